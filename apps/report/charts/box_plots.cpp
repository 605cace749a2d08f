#include "report/charts/box_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace mokume::report {
namespace {

constexpr double kBoxesLeft = 62, kBoxesRight = 544, kBoxesTop = 62, kBoxesBottom = 320;
constexpr size_t kMaxBoxes = 200;  // more boxes could not be distinguished
constexpr size_t kMaxBars = 40;

// Returns the extent of all values of the experiment, so that all plots share one axis and can be compared.
results::Extent extent_of(const Figure& figure) {
  results::Extent extent;
  for (const results::CandidateRow& row : figure.pooled)
    for (const double value : row.values) extent.add(figure.shown(value));
  return extent;
}

// Returns the best candidates that fit into a plot, in index order.
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
  return text + fmt::format("; {} at {} = {}: {}", figure.best == *first ? "best of the run" : "best mean",
                            panel.x.name, results::pretty(figure.number(*first, panel.x), 3),
                            figure.unit.text(figure.pooled[*first].mean));
}

enum class Look { plain, marked };

void draw_candidate(Svg& svg, const Figure& figure, size_t candidate, const Scale& scale, double x, double width,
                    Look look) {
  const results::CandidateRow& row = figure.pooled[candidate];
  const results::Unit& unit = figure.unit;
  std::vector<double> values = row.values;
  for (double& value : values) value = figure.shown(value);
  const results::Box box = results::box_of(row.values);
  svg.open(fmt::format("{}{}", look == Look::marked ? "top" : "box", row.complete ? "" : " part"),
           fmt::format("{}\nmedian {}, quartiles {} to {}", figure.hover(candidate), unit.text(box.median),
                       unit.spread(box.q1), unit.text(box.q3)));
  if (values.size() > 1) draw_box(svg, results::box_of(values), scale, x, width, true);
  draw_points(svg, values, scale, x, width, true);
  svg.close();
}

void draw_failed(Svg& svg, const Figure& figure, size_t candidate, double x) {
  svg.open("failed", figure.hover(candidate));
  svg.rect(x - 4, kBoxesTop - 2, 8, 12, "bg");
  svg.cross(x, kBoxesTop + 4, 3);
  svg.close();
}

// Maps each candidate to the horizontal offset of its box. Boxes that share a value stand side by side, and every box
// stays nearer to its own value than to the next one.
std::map<size_t, double> shifts_of(const Figure& figure, const BoxPanel& panel, const std::vector<size_t>& candidates,
                                   double width, double pitch) {
  std::map<double, std::vector<size_t>> by_value;
  for (const size_t c : candidates) by_value[figure.number(c, panel.x)].push_back(c);
  std::map<size_t, double> shifts;
  for (const auto& [value, sharing] : by_value) {
    const double n = sharing.size();
    const double step = std::min(width + 1, 0.9 * pitch / n);
    for (size_t k = 0; k < sharing.size(); ++k) shifts[sharing[k]] = (k - (n - 1) / 2) * step;
  }
  return shifts;
}

std::string draw_panel(const Figure& figure, const BoxPanel& panel, const results::Extent& extent) {
  const std::string over = fmt::format("{} over {}", figure.unit.title, panel.x.name);
  const std::string head = panel.title.empty() ? over : panel.title;
  const std::vector<size_t> candidates = drawn(figure, panel.candidates);
  Svg svg(560, 372, fmt::format("Box plots of {}; {}", over, head), head, caption(figure, panel, candidates.size()));
  // Without a grid, many candidates may share a value, so their boxes are slim and stand side by side.
  const bool grid = figure.surface || !figure.y;
  const Positions positions = positions_of(panel.x, kBoxesLeft, kBoxesRight, grid ? 6 : 0);
  const Scale scale = value_scale(extent, extent.spans(10), kBoxesBottom, kBoxesTop);
  left_axis(svg, scale, kBoxesLeft, kBoxesRight, ticks(scale, 6), figure.unit.title + (scale.log ? ", log scale" : ""));
  bottom_axis(svg, positions.scale, kBoxesBottom, kBoxesBottom, positions.ticks, positions.title);
  const double width = std::clamp(0.62 * positions.pitch, grid ? 4.0 : 6.0, grid ? 34.0 : 10.0);
  std::map<size_t, double> shifts = shifts_of(figure, panel, candidates, width, positions.pitch);
  const auto x_of = [&](size_t c) { return positions.at(figure.number(c, panel.x)) + shifts[c]; };
  const auto first = figure.marked(panel.candidates);
  for (const size_t c : candidates) {
    if (figure.pooled[c].failed > 0) draw_failed(svg, figure, c, x_of(c));
    if (!figure.pooled[c].values.empty() && first != c)
      draw_candidate(svg, figure, c, scale, x_of(c), width, Look::plain);
  }
  if (first) {  // drawn last, so that no other box covers it
    draw_candidate(svg, figure, *first, scale, x_of(*first), width, Look::marked);
    if (figure.best == *first)
      svg.path(fmt::format("M{} {}l4.5 7h-9z", coordinate(x_of(*first)), coordinate(kBoxesBottom - 9)), "star");
  }
  return std::move(svg).finish();
}

}  // namespace

std::vector<NamedFile> box_plots(const Figure& figure) {
  const results::Extent extent = extent_of(figure);
  std::vector<NamedFile> files;
  for (const BoxPanel& panel : figure.box_panels()) files.push_back({panel.file, draw_panel(figure, panel, extent)});
  return files;
}

NamedFile candidate_bars(const Figure& figure) {
  constexpr double kRow = 26, kFirst = 62;
  const std::vector<size_t> order = figure.ranking(kMaxBars);
  results::Extent extent{0, 0};
  double labels = 120;
  std::vector<std::string> names;
  for (const size_t c : order) {
    const results::CandidateRow& row = figure.pooled[c];
    const std::string params = results::pretty_params(figure.view.plan, c);
    names.push_back(results::elide(params.empty() ? fmt::format("candidate {}", c) : params, 60));
    labels = std::max(labels, 32 + text_width(names.back()));
    if (!row.complete) continue;
    extent.add(figure.shown(row.mean - (row.mean < 0 ? row.sd : 0)));
    extent.add(figure.shown(row.mean + row.sd));
  }
  const double end = labels + 404;
  const double bottom = kFirst + kRow * order.size();
  const std::string cut =
      order.size() < figure.pooled.size() ? fmt::format("; the {} best of {}", order.size(), figure.pooled.size()) : "";
  Svg svg(end + 80, bottom + 56, "Candidates by mean " + figure.unit.title, "Candidates by mean",
          fmt::format("{}; lines are ± one standard deviation{}", figure.fits_text(), cut));
  const Scale scale =
      make_scale(extent.low, extent.high > extent.low ? extent.high : extent.low + 1, false, 0, labels, end);
  bottom_axis(svg, scale, bottom, kFirst, ticks(scale, 5), "mean " + figure.unit.title);
  for (size_t i = 0; i < order.size(); ++i) {
    const results::CandidateRow& row = figure.pooled[order[i]];
    const double y = kFirst + kRow * (i + 0.5);
    svg.open(figure.best == order[i] ? "top" : "box", figure.hover(order[i]));
    svg.text(labels - 10, y + 4, names[i], "end strong");
    if (row.complete) {
      const double mean = figure.shown(row.mean), sd = figure.shown(row.sd), zero = scale.at(0), at = scale.at(mean);
      svg.rect(std::min(zero, at), y - 8, std::abs(at - zero), 16, {}, {}, {}, 2);
      svg.line(std::max(labels, scale.at(mean - sd)), y, scale.at(mean + sd), y, "median");
      svg.text(end + 10, y + 4, figure.unit.text(row.mean), "strong");
    } else {
      svg.text(labels + 10, y + 4, row.failed > 0 ? "failed" : "not finished");
    }
    svg.close();
  }
  return {"plots/candidates.svg", std::move(svg).finish()};
}

}  // namespace mokume::report
