#include "report/charts/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "report/charts/curve_family.hpp"

namespace mokume::report {
namespace {

using Frame = CurveFrame;
constexpr double kLegend = 660, kLegendText = 690;

// Draws one curve: lines between epochs, a dot if both neighbours are missing, and a cross where values stop being
// finite. Divides the axis into steps and draws only the lowest and the highest value in each step.
class Stroke {
 public:
  Stroke(const CurveFamily& family, const std::vector<double>& values, size_t steps)
      : family_(family), values_(values), steps_(steps) {}

  void draw(Svg& svg, std::string_view dashes, bool crosses) {
    for (size_t i = 0; i < values_.size();) {
      const size_t from = i;
      const bool good = usable(values_[i]);
      while (i < values_.size() && usable(values_[i]) == good) ++i;
      if (good)
        run(from, i);
      else
        gap(from);
    }
    if (!path_.empty()) svg.path(path_, dashes);
    for (const auto& [x, y] : dots_) svg.circle(x, y, 1.8);
    for (const auto& [x, y] : gaps_)
      if (crosses) svg.cross(x, y, 3);
  }

 private:
  size_t step_of(size_t i) const { return values_.size() <= 2 * steps_ ? i : i * steps_ / values_.size(); }
  double x_of(size_t i) const { return family_.x.at(i + 1); }
  double y_of(size_t i) const { return std::max(Frame::kTop, family_.y.at(values_[i])); }

  // Sets `mark` to `step` and returns whether this changed it.
  static bool advance(size_t& mark, size_t step) { return std::exchange(mark, step) != step; }

  void point(size_t i, char command) {
    path_ += fmt::format("{}{} {}", command, coordinate(x_of(i)), coordinate(y_of(i)));
    last_ = i;
  }

  void run(size_t from, size_t to) {
    if (to - from == 1) {
      if (advance(last_dot_, step_of(from))) dots_.emplace_back(x_of(from), y_of(from));
      last_ = from;
      return;
    }
    // A run within the step of the previous run adds nothing visible.
    if (!advance(last_run_, step_of(to - 1))) return;
    point(from, 'M');
    for (size_t i = from + 1; i < to;) {
      size_t low = i, high = i;
      const size_t step = step_of(i);
      for (; i < to && step_of(i) == step; ++i) {
        if (values_[i] < values_[low]) low = i;
        if (values_[i] > values_[high]) high = i;
      }
      point(std::min(low, high), 'L');
      if (low != high) point(std::max(low, high), 'L');
    }
    if (last_ != to - 1) point(to - 1, 'L');
  }

  // Marks a gap at the height of the last drawn value.
  void gap(size_t at) {
    if (advance(last_gap_, step_of(at))) gaps_.emplace_back(x_of(at), last_ == kNone ? Frame::kBottom : y_of(last_));
  }

  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  const CurveFamily& family_;
  const std::vector<double>& values_;
  size_t steps_;
  size_t last_ = kNone;  // last drawn epoch
  size_t last_dot_ = kNone, last_run_ = kNone, last_gap_ = kNone;
  std::string path_;
  std::vector<std::pair<double, double>> dots_, gaps_;
};

void draw_line(Svg& svg, const CurveFamily& family, const CurveLine& line, const std::string& classes, bool named) {
  svg.open("curve " + classes, line.hover);
  for (const journal::Curve* curve : line.curves) {
    // The refit's rows differ from those of every fit, so a single curve of the refit needs no line style of its own.
    const bool plain = family.kinds.size() == 1 || (family.refit && &line == &*family.refit && line.curves.size() == 1);
    const char* dashes = plain ? "" : curve_kind(kind_of(curve->name)).dashes;
    Stroke(family, curve->values, named ? 280 : 100).draw(svg, dashes, named);
  }
  svg.close();
}

std::vector<Tick> epoch_ticks(const Scale& scale) {
  std::vector<Tick> all;
  for (int epoch = 1; scale.high < 12 && epoch <= scale.high; ++epoch)
    all.push_back({1.0 * epoch, std::to_string(epoch)});
  if (!all.empty()) return all;
  all = ticks(scale, 8);
  std::erase_if(all, [](const Tick& t) { return !(t.value >= 1 && std::abs(t.value - std::round(t.value)) < 1e-6); });
  return all;
}

std::string caption_of(const CurveFamily& family) {
  std::string text =
      family.count == 0 ? "the refit" : results::counted(family.count, family.members ? "member" : "fit");
  if (family.lines.size() < family.count)
    text += fmt::format(", the {} {} drawn", results::grouped(family.lines.size()), family.members ? "first" : "best");
  const bool some = family.count > kMaxNamedCurves;
  if (family.members)
    text += fmt::format(", {}named in the order in which they end", some ? "the first ones " : "");
  else if (some)
    text += ", those of the best candidates named";
  if (family.numbered && family.count > 0) text += "; names are candidate,bootstrap,fold";
  if (family.cut) text += "; lines along the top continue beyond it";
  if (family.broken) text += "; cross: not finite";
  for (const size_t kind : family.kinds) {
    const CurveKind& one = curve_kind(kind);
    const bool known = *one.rows != '\0';
    if (family.kinds.size() > 1)
      text += fmt::format("; {}: {}", one.look, known ? one.rows : "other");
    else if (known)
      text += fmt::format("; on {} rows", one.rows);
  }
  return text;
}

double end_of(const CurveFamily& family, const CurveLine& line) {
  const std::vector<double>& values = line.curves.front()->values;
  for (size_t i = values.size(); i-- > 0;)
    if (usable(values[i])) return family.y.at(values[i]);
  return Frame::kBottom;
}

// Returns the indices of the named lines. Members are ordered by the heights at which they end, so that readers can
// match lines to legend entries, for which a dozen colours alone do not suffice.
std::vector<size_t> legend_order(const CurveFamily& family) {
  std::vector<size_t> order(std::min(family.lines.size(), kMaxNamedCurves));
  std::iota(order.begin(), order.end(), size_t{0});
  if (family.members)
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return end_of(family, family.lines[a]) < end_of(family, family.lines[b]);
    });
  return order;
}

void draw_legend(Svg& svg, const CurveFamily& family) {
  double y = Frame::kTop + 6.5;
  const auto entry = [&](const std::string& name, const std::string& classes) {
    if (!classes.empty()) {
      svg.open("curve " + classes);
      svg.line(kLegend, y, kLegendText - 8, y);
      svg.close();
    }
    svg.text(kLegendText, y + 3.5, results::elide(name, 24), classes == "refit" ? "strong" : "");
    y += 19;
  };
  if (family.refit) {
    const CurveKind& kind = curve_kind(kind_of(family.refit->curves[0]->name));
    const bool only = family.kinds.size() > 1 && family.refit->curves.size() == 1 && *kind.rows != '\0';
    entry(only ? fmt::format("refit, {}", kind.rows) : "refit", "refit");
  }
  const std::vector<size_t> named = legend_order(family);
  for (const size_t i : named) entry(family.lines[i].name, fmt::format("k{}", i));
  if (family.count > named.size()) entry(fmt::format("and {} more", results::grouped(family.count - named.size())), "");
}

std::string draw(const CurveFamily& family) {
  std::string shown = results::elide(family.name, 40);
  std::replace(shown.begin(), shown.end(), '_', ' ');
  Svg svg(820, 392, fmt::format("Curves of {}{} over epochs", family.members ? "members: " : "", shown),
          fmt::format("{}{} over epochs", family.members ? "Members: " : "", shown), caption_of(family));
  left_axis(svg, family.y, Frame::kLeft, Frame::kRight, ticks(family.y, 6),
            shown + (family.y.log ? ", log scale" : ""));
  bottom_axis(svg, family.x, Frame::kBottom, Frame::kBottom, epoch_ticks(family.x), "epoch");
  // Draws the best lines last, so that they are on top.
  for (size_t i = family.lines.size(); i-- > 0;) {
    const bool named = i < kMaxNamedCurves;
    draw_line(svg, family, family.lines[i], named ? fmt::format("k{}", i) : "pale", named);
  }
  if (family.refit) draw_line(svg, family, *family.refit, "refit", true);
  draw_legend(svg, family);
  return std::move(svg).finish();
}

std::string file_of(const CurveFamily& family, std::set<std::string>& taken) {
  const std::string safe = safe_name(family.members ? "members-" : "", family.name);
  std::string name = safe;
  for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}-{}", safe, n);
  return fmt::format("plots/curves-{}.svg", name);
}

}  // namespace

std::vector<NamedFile> curve_plots(const Figure& figure) {
  std::vector<NamedFile> files;
  std::set<std::string> taken;
  for (const CurveFamily& family : curve_families(figure)) files.push_back({file_of(family, taken), draw(family)});
  return files;
}

}  // namespace mokume::report
