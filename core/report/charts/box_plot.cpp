// Box plots of the fits' values over one parameter, and bars of candidates where no parameter is a number.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "report/charts/figure.hpp"

namespace mokume::report {
namespace {

constexpr double kWidth = 560, kHeight = 372;
constexpr double kLeft = 62, kRight = 544, kTop = 62, kBottom = 320;
constexpr size_t kMaxBoxes = 200;  // more could not be told apart
constexpr size_t kMaxPoints = 30;  // beyond, only the points outside the whiskers are drawn
constexpr size_t kMaxBars = 40;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool empty() const { return low > high; }
  bool log() const { return low > 0 && high / low >= 10; }
};

// Of all values in the experiment, so that every plot has the same axis and plots can be compared.
Range range_of(const Figure& figure) {
  Range range;
  for (const Pooled& row : figure.pooled) {
    for (const double value : row.values) {
      range.low = std::min(range.low, figure.unit.factor * value);
      range.high = std::max(range.high, figure.unit.factor * value);
    }
  }
  return range;
}

Scale value_scale(const Range& range, double from, double to) {
  if (range.empty()) return make_scale(0, 1, false, 0, from, to);
  Scale scale = make_scale(range.low, range.high, range.log(), 0.05, from, to);
  if (!scale.log && range.low >= 0) scale.low = std::max(0.0, scale.low);
  return scale;
}

// The candidates a plot can hold, in index order: the best ranked ones.
std::vector<size_t> drawn(const Figure& figure, std::vector<size_t> candidates) {
  if (candidates.size() <= kMaxBoxes) return candidates;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](size_t a, size_t b) { return figure.pooled[a].rank < figure.pooled[b].rank; });
  candidates.resize(kMaxBoxes);
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

std::string caption(const Figure& figure, const BoxPanel& panel, size_t shown) {
  size_t n = 0;
  for (const size_t c : panel.candidates) n = std::max(n, figure.pooled[c].values.size());
  std::string text = fmt::format("{}, n = {} per box", figure.fits_text(), n);
  if (shown < panel.candidates.size()) text += fmt::format("; the {} best of {}", shown, panel.candidates.size());
  const auto first = figure.marked(panel.candidates);
  if (!first) return text + "; no complete candidate yet";
  const bool overall = figure.best == *first;
  text += fmt::format("; {} at {} = {}: {}", overall ? "best of the run" : "lowest mean", panel.x.name,
                      pretty(figure.number(*first, panel.x), 3), figure.unit.text(figure.pooled[*first].mean));
  return text;
}

void draw_points(Svg& svg, const std::vector<double>& values, const Box& box, double x, double width,
                 const Scale& scale, double factor) {
  const size_t n = values.size();
  const double spread = n > 1 ? 0.6 * width / static_cast<double>(n - 1) : 0;
  for (size_t i = 0; i < n; ++i) {
    const bool outside = values[i] < box.low || values[i] > box.high;
    if (n > kMaxPoints && !outside) continue;
    const double shift = (static_cast<double>(i) - static_cast<double>(n - 1) / 2) * spread;
    svg.circle(x + shift, scale.at(factor * values[i]), width < 10 ? 1.3 : 1.8, {});
  }
}

void draw_box(Svg& svg, const Figure& figure, size_t candidate, double x, double width, const Scale& scale, bool top) {
  const Pooled& row = figure.pooled[candidate];
  const double factor = figure.unit.factor;
  const Box box = box_of(row.values);
  const double q1 = scale.at(factor * box.q1), q3 = scale.at(factor * box.q3);
  std::string classes = top ? "top" : "box";
  if (!row.complete) classes += " part";
  svg.open(classes, fmt::format("{}\nmedian {}, quartiles {} to {}", figure.hover(candidate),
                                figure.unit.text(box.median), figure.unit.spread(box.q1), figure.unit.text(box.q3)));
  svg.line(x, scale.at(factor * box.low), x, q1, "whisker");
  svg.line(x, q3, x, scale.at(factor * box.high), "whisker");
  const double cap = width / 4;
  svg.line(x - cap, scale.at(factor * box.low), x + cap, scale.at(factor * box.low), "whisker");
  svg.line(x - cap, scale.at(factor * box.high), x + cap, scale.at(factor * box.high), "whisker");
  svg.rect(x - width / 2, q3, width, q1 - q3, {});
  const double median = scale.at(factor * box.median);
  svg.line(x - width / 2, median, x + width / 2, median, "median");
  draw_points(svg, row.values, box, x, width, scale, factor);
  svg.close();
}

void draw_failed(Svg& svg, const Figure& figure, size_t candidate, double x) {
  svg.open("failed", figure.hover(candidate));
  svg.rect(x - 4, kTop - 2, 8, 12, "bg");
  svg.path(fmt::format("M{0} {2}L{1} {3}M{1} {2}L{0} {3}", coordinate(x - 3), coordinate(x + 3), coordinate(kTop + 1),
                       coordinate(kTop + 7)),
           "cross");
  svg.close();
}

void axis_titles(Svg& svg, const std::string& bottom, const std::string& left) {
  svg.text((kLeft + kRight) / 2, kBottom + 40, bottom, "mid strong");
  svg.text_up(16, (kTop + kBottom) / 2, left, "mid strong");
}

// By candidate: how far its box stands from the value that it has in common with others. All stay nearer to it than to
// the next value.
std::vector<double> shifts_of(const Figure& figure, const BoxPanel& panel, const std::vector<size_t>& candidates,
                              double width, double pitch) {
  std::map<double, std::vector<size_t>> sharing;  // by value: places in `candidates`
  for (size_t i = 0; i < candidates.size(); ++i) sharing[figure.number(candidates[i], panel.x)].push_back(i);
  std::vector<double> shifts(candidates.size(), 0);
  for (const auto& [value, together] : sharing) {
    const double n = static_cast<double>(together.size());
    const double step = std::min(width + 1, 0.9 * pitch / n);
    for (size_t k = 0; k < together.size(); ++k) shifts[together[k]] = (static_cast<double>(k) - (n - 1) / 2) * step;
  }
  return shifts;
}

std::string draw_panel(const Figure& figure, const BoxPanel& panel, const Range& range) {
  const std::string head =
      panel.title.empty() ? fmt::format("{} over {}", figure.unit.title, panel.x.name) : panel.title;
  Svg svg(kWidth, kHeight, fmt::format("Box plots of {} over {}; {}", figure.unit.title, panel.x.name, head));
  const std::vector<size_t> candidates = drawn(figure, panel.candidates);
  const Placing places = place(panel.x, kLeft, kRight, figure.surface || !figure.y ? 6 : 0);
  const Scale scale = value_scale(range, kBottom, kTop);
  svg.text(16, 22, elide(head, 72), "head");
  svg.text(16, 40, elide(caption(figure, panel, candidates.size()), 90), "");
  left_axis(svg, scale, kLeft, kRight, ticks(scale, 6));
  bottom_axis(svg, places.scale, kBottom, places.ticks);
  axis_titles(svg, places.title, figure.unit.title + (scale.log ? ", log scale" : ""));
  // Without a grid many candidates may share a place: slim boxes, side by side.
  const bool grid = figure.surface || !figure.y;
  const double width = std::clamp(0.62 * places.pitch, grid ? 4.0 : 6.0, grid ? 34.0 : 10.0);
  const auto first = figure.marked(panel.candidates);
  const std::vector<double> shifts = shifts_of(figure, panel, candidates, width, places.pitch);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const size_t c = candidates[i];
    const double x = places.at(figure.number(c, panel.x)) + shifts[i];
    if (figure.pooled[c].failed > 0) draw_failed(svg, figure, c, x);
    if (!figure.pooled[c].values.empty() && first != c) draw_box(svg, figure, c, x, width, scale, false);
  }
  if (first) {  // last, so that it lies on top
    const auto found = std::find(candidates.begin(), candidates.end(), *first);
    const double shift = found == candidates.end() ? 0 : shifts[static_cast<size_t>(found - candidates.begin())];
    const double x = places.at(figure.number(*first, panel.x)) + shift;
    draw_box(svg, figure, *first, x, width, scale, true);
    if (figure.best == *first) {
      svg.path(fmt::format("M{} {}l4.5 7h-9z", coordinate(x), coordinate(kBottom - 9)), "star");
    }
  }
  return std::move(svg).finish();
}

}  // namespace

std::vector<NamedFile> box_plots(const Figure& figure) {
  const Range range = range_of(figure);
  std::vector<NamedFile> files;
  for (const BoxPanel& panel : figure.box_panels()) files.push_back({panel.file, draw_panel(figure, panel, range)});
  return files;
}

NamedFile candidate_bars(const Figure& figure) {
  std::vector<size_t> order(figure.pooled.size());
  for (size_t c = 0; c < order.size(); ++c) order[figure.pooled[c].rank - 1] = c;
  const size_t total = order.size();
  order.resize(std::min(order.size(), kMaxBars));
  double low = 0, high = 0;
  for (const size_t c : order) {
    if (!figure.pooled[c].complete) continue;
    const double mean = figure.unit.factor * figure.pooled[c].mean, sd = figure.unit.factor * figure.pooled[c].sd;
    low = std::min(low, mean - (mean < 0 ? sd : 0));
    high = std::max(high, mean + sd);
  }
  const auto label = [&](size_t c) {
    const std::string params = pretty_params(figure.view.plan, c);
    return elide(params.empty() ? fmt::format("candidate {}", c) : params, 60);
  };
  double labels = 120;
  for (const size_t c : order) labels = std::max(labels, 32 + text_width(label(c)));
  constexpr double kRow = 26, kFirst = 62;
  const double end = labels + 404;
  const double bottom = kFirst + kRow * static_cast<double>(order.size());
  Svg svg(end + 80, bottom + 56, "Candidates by mean " + figure.unit.title);
  svg.text(16, 22, "Candidates by mean", "head");
  const std::string cut = order.size() < total ? fmt::format("; the {} best of {}", order.size(), total) : "";
  svg.text(16, 40, fmt::format("{}; lines are ± one standard deviation{}", figure.fits_text(), cut), "");
  Scale scale = make_scale(low, high > low ? high : low + 1, false, 0, labels, end);
  for (const Tick& tick : ticks(scale, 5)) svg.line(scale.at(tick.value), kFirst, scale.at(tick.value), bottom, "grid");
  bottom_axis(svg, scale, bottom, ticks(scale, 5));
  svg.text((labels + end) / 2, bottom + 40, "mean " + figure.unit.title, "mid strong");
  for (size_t i = 0; i < order.size(); ++i) {
    const Pooled& row = figure.pooled[order[i]];
    const double y = kFirst + kRow * (static_cast<double>(i) + 0.5);
    svg.open(figure.best == order[i] ? "top" : "box", figure.hover(order[i]));
    svg.text(labels - 10, y + 4, label(order[i]), "end strong");
    if (row.complete) {
      const double mean = figure.unit.factor * row.mean, sd = figure.unit.factor * row.sd;
      const double zero = scale.at(0), at = scale.at(mean);
      svg.rect(std::min(zero, at), y - 8, std::abs(at - zero), 16, {}, {}, {}, 2);
      svg.line(std::max(labels, scale.at(mean - sd)), y, scale.at(mean + sd), y, "median");
      svg.text(end + 10, y + 4, figure.unit.text(row.mean), "strong");
    } else {
      svg.text(labels + 10, y + 4, row.failed > 0 ? "failed" : "not finished", "");
    }
    svg.close();
  }
  return {"plots/candidates.svg", std::move(svg).finish()};
}

}  // namespace mokume::report
