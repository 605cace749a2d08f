// Curves over epochs: how fits, the refit and the members of an ensemble learned.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "report/charts/curve_family.hpp"

namespace mokume::report {
namespace {

constexpr double kWidth = 820, kHeight = 392;
constexpr double kLeft = CurveFrame::kLeft, kRight = CurveFrame::kRight;
constexpr double kTop = CurveFrame::kTop, kBottom = CurveFrame::kBottom;
constexpr double kLegend = 660, kLegendText = 690;

// One curve: lines between epochs, a dot where both neighbours are missing, a cross where values stop being finite. Of
// the epochs that share one of `places` along the axis only the lowest and the highest value are drawn.
class Stroke {
 public:
  Stroke(const CurveFamily& family, const std::vector<double>& values, size_t places)
      : family_(family), values_(values), places_(places) {}

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
    for (const auto& [x, y] : dots_) svg.circle(x, y, 1.8, {});
    for (const auto& [x, y] : gaps_) {
      if (!crosses) break;
      svg.path(fmt::format("M{} {}l6 6m0 -6l-6 6", coordinate(x - 3), coordinate(y - 3)), "cross");
    }
  }

 private:
  size_t place_of(size_t i) const { return values_.size() <= 2 * places_ ? i : i * places_ / values_.size(); }
  double x_of(size_t i) const { return family_.x.at(static_cast<double>(i + 1)); }
  double y_of(size_t i) const { return std::max(kTop, family_.y.at(values_[i])); }

  void point(size_t i, char command) {
    path_ += fmt::format("{}{} {}", command, coordinate(x_of(i)), coordinate(y_of(i)));
    last_ = i;
  }

  void run(size_t from, size_t to) {
    if (to - from == 1) {
      if (last_dot_ != place_of(from)) dots_.emplace_back(x_of(from), y_of(from));
      last_dot_ = place_of(from);
      last_ = from;
      return;
    }
    // A run within the place of the one before adds nothing that can be seen.
    if (last_run_ == place_of(to - 1)) return;
    last_run_ = place_of(to - 1);
    point(from, 'M');
    for (size_t i = from + 1; i < to;) {
      size_t low = i, high = i;
      const size_t place = place_of(i);
      for (; i < to && place_of(i) == place; ++i) {
        if (values_[i] < values_[low]) low = i;
        if (values_[i] > values_[high]) high = i;
      }
      point(std::min(low, high), 'L');
      if (low != high) point(std::max(low, high), 'L');
    }
    if (last_ != to - 1) point(to - 1, 'L');
  }

  // At the height of the last value that could be drawn.
  void gap(size_t at) {
    if (last_gap_ == place_of(at)) return;
    last_gap_ = place_of(at);
    gaps_.emplace_back(x_of(at), last_ == kNone ? kBottom : y_of(last_));
  }

  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  const CurveFamily& family_;
  const std::vector<double>& values_;
  size_t places_;
  size_t last_ = kNone;  // the epoch drawn last
  size_t last_dot_ = kNone, last_run_ = kNone, last_gap_ = kNone;
  std::string path_;
  std::vector<std::pair<double, double>> dots_, gaps_;
};

void draw_line(Svg& svg, const CurveFamily& family, const CurveLine& line, const std::string& classes, bool named) {
  svg.open("curve " + classes, line.hover);
  for (const journal::Curve* curve : line.curves) {
    // The refit has the rows of no other fit: its one curve needs no second look.
    const bool plain = family.kinds.size() == 1 || (family.refit && &line == &*family.refit && line.curves.size() == 1);
    const char* dashes = plain ? "" : curve_kind(kind_of(curve->name)).dashes;
    Stroke(family, curve->values, named ? 280 : 100).draw(svg, dashes, named);
  }
  svg.close();
}

std::vector<Tick> epoch_ticks(const Scale& scale) {
  std::vector<Tick> all;
  if (scale.high < 12) {
    for (int epoch = 1; epoch <= scale.high; ++epoch)
      all.push_back({static_cast<double>(epoch), std::to_string(epoch), {}});
    return all;
  }
  for (Tick& tick : ticks(scale, 8))
    if (tick.value >= 1 && std::abs(tick.value - std::round(tick.value)) < 1e-6) all.push_back(std::move(tick));
  return all;
}

std::string caption_of(const CurveFamily& family) {
  const char* what = family.members ? "member" : "fit";
  std::string text = fmt::format("{} {}{}", grouped(family.count), what, family.count == 1 ? "" : "s");
  if (family.count == 0) text = "the refit";
  if (family.lines.size() < family.count)
    text += fmt::format(", the {} {} drawn", grouped(family.lines.size()), family.members ? "first" : "best");
  if (family.members)
    text += family.count > kMaxNamedCurves ? ", the first ones named, in the order of their ends"
                                           : ", named in the order of their ends";
  else if (family.count > kMaxNamedCurves)
    text += ", named are those of the best candidates";
  if (family.numbered && family.count > 0) text += "; names are candidate,bootstrap,fold";
  if (family.cut) text += "; lines along the top are beyond it";
  if (family.broken) text += "; cross: not finite";
  if (family.kinds.size() == 1) {
    const CurveKind& kind = curve_kind(*family.kinds.begin());
    return *kind.said == '\0' ? text : fmt::format("{}; on {} rows", text, kind.said);
  }
  for (const size_t kind : family.kinds) {
    const std::string dashes = curve_kind(kind).dashes;
    const std::string look = dashes.empty() ? "solid" : dashes == "dash" ? "dashed" : "dotted";
    text += fmt::format("; {}: {}", look, *curve_kind(kind).said == '\0' ? "other" : curve_kind(kind).said);
  }
  return text;
}

// Where a line ends, as a height in the plot.
double end_of(const CurveFamily& family, const CurveLine& line) {
  const std::vector<double>& values = line.curves.front()->values;
  for (size_t i = values.size(); i-- > 0;)
    if (usable(values[i])) return family.y.at(values[i]);
  return kBottom;
}

// The named lines. Those of members by the height at which they end, so that an entry is found from its line and back:
// a dozen colours alone do not tell that.
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
  double y = kTop + 6.5;
  const auto entry = [&](const std::string& name, const std::string& classes) {
    if (!classes.empty()) {
      svg.open("curve " + classes);
      svg.line(kLegend, y, kLegendText - 8, y, {});
      svg.close();
    }
    svg.text(kLegendText, y + 3.5, elide(name, 24), classes == "refit" ? "strong" : "");
    y += 19;
  };
  if (family.refit) {
    const CurveKind& kind = curve_kind(kind_of(family.refit->curves[0]->name));
    const bool only = family.kinds.size() > 1 && family.refit->curves.size() == 1 && *kind.said != '\0';
    entry(only ? fmt::format("refit, {}", kind.said) : "refit", "refit");
  }
  const std::vector<size_t> named = legend_order(family);
  for (const size_t i : named) entry(family.lines[i].name, fmt::format("k{}", i));
  if (family.count > named.size()) entry(fmt::format("and {} more", grouped(family.count - named.size())), "");
}

std::string draw(const CurveFamily& family) {
  std::string shown = elide(family.name, 40);
  std::replace(shown.begin(), shown.end(), '_', ' ');
  const char* of = family.members ? "members: " : "";
  Svg svg(kWidth, kHeight, fmt::format("Curves of {}{} over epochs", of, shown));
  svg.text(16, 22, fmt::format("{}{} over epochs", family.members ? "Members: " : "", shown), "head");
  svg.text(16, 40, caption_of(family), "");
  left_axis(svg, family.y, kLeft, kRight, ticks(family.y, 6));
  bottom_axis(svg, family.x, kBottom, epoch_ticks(family.x));
  svg.text((kLeft + kRight) / 2, kBottom + 40, "epoch", "mid strong");
  svg.text_up(16, (kTop + kBottom) / 2, shown + (family.y.log ? ", log scale" : ""), "mid strong");
  // The best last, so that they lie on top.
  for (size_t i = family.lines.size(); i-- > 0;) {
    const bool named = i < kMaxNamedCurves;
    draw_line(svg, family, family.lines[i], named ? fmt::format("k{}", i) : "pale", named);
  }
  if (family.refit) draw_line(svg, family, *family.refit, "refit", true);
  draw_legend(svg, family);
  return std::move(svg).finish();
}

std::string file_of(const CurveFamily& family, std::set<std::string>& taken) {
  std::string safe = family.members ? "members-" : "";
  for (const char c : family.name.substr(0, 40)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    safe += plain ? c : '-';
  }
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
