// Curves over epochs: how fits and the refit learned.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "report/panels.hpp"

namespace mokume::report {
namespace {

constexpr double kWidth = 820, kHeight = 392;
constexpr double kLeft = 62, kRight = 636, kTop = 62, kBottom = 340;
constexpr double kLegend = 660, kLegendText = 690;
constexpr size_t kMaxNamed = 12;  // the colours k0 to k11 of svg_style()
constexpr size_t kMaxPale = 300;
constexpr size_t kMaxFamilies = 16;
constexpr double kLogFrom = 31.622776601683793;  // 1.5 decades

// What a curve was measured on, from its name's prefix, and how its line is drawn where a plot holds several kinds.
struct Kind {
  const char* prefix;
  const char* dashes;
  const char* said;
};
constexpr std::array<Kind, 4> kKinds = {
    {{"validation_", "", "validation"}, {"train_", "dash", "training"}, {"test_", "dots", "test"}, {"", "", ""}}};

size_t kind_of(const std::string& name) {
  size_t kind = 0;
  while (!name.starts_with(kKinds[kind].prefix)) ++kind;
  return kind;
}

std::string family_of(const std::string& name) {
  const std::string family = name.substr(std::string(kKinds[kind_of(name)].prefix).size());
  return family.empty() ? name : family;
}

bool usable(double value) { return std::abs(value) < 1e100; }

// A fit, or the refit, with its curves of one family.
struct Line {
  std::string name, hover;
  std::vector<const journal::Curve*> curves;
};

struct Family {
  std::string name;
  std::vector<Line> lines;  // of fits, those of the best candidates first
  std::optional<Line> refit;
  bool log = false;
  Scale x, y;
  std::set<size_t> kinds;
  bool broken = false;  // a named line has a cross
  bool cut = false;     // lines reach past the top
  size_t fits = 0;
};

// "candidate 3, fold 1", without what all fits share.
std::string name_of(const search::Plan& plan, const search::FitKey& key) {
  std::string text = plan.candidates.size() > 1 ? fmt::format("candidate {}", key.candidate) : "";
  const auto add = [&](const char* what, uint32_t value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, value);
  };
  if (plan.bootstraps > 1) add("bootstrap", key.bootstrap);
  if (plan.folds > 1 || text.empty()) add("fold", key.fold);
  return text;
}

Line line_of(const std::string& name, const std::string& params, const std::vector<journal::Curve>& curves,
             const std::string& family) {
  Line line{name, params.empty() ? name : name + '\n' + params, {}};
  for (const journal::Curve& curve : curves) {
    if (curve.values.empty() || family_of(curve.name) != family) continue;
    line.curves.push_back(&curve);
    line.hover += fmt::format("\n{}: {} after {} epoch{}", curve.name, pretty(curve.values.back()), curve.values.size(),
                              curve.values.size() == 1 ? "" : "s");
  }
  return line;
}

// One pair of axes for all lines that are drawn. A fit that diverged must not press all others into the bottom: where
// the worse half would stretch the axis a hundredfold, it ends a little above the better half and the refit.
void set_scales(Family& family) {
  double low = std::numeric_limits<double>::infinity(), high = -low, better_high = -low;
  size_t epochs = 1;
  const auto add = [&](const Line& line, bool named, bool better) {
    for (const journal::Curve* curve : line.curves) {
      epochs = std::max(epochs, curve->values.size());
      family.kinds.insert(kind_of(curve->name));
      for (const double value : curve->values) {
        if (!usable(value)) {
          family.broken |= named;
          continue;
        }
        low = std::min(low, value);
        high = std::max(high, value);
        if (better) better_high = std::max(better_high, value);
      }
    }
  };
  for (size_t i = 0; i < family.lines.size(); ++i) add(family.lines[i], i < kMaxNamed, 2 * i < family.lines.size());
  if (family.refit) add(*family.refit, true, true);
  const double last = static_cast<double>(epochs);
  family.x = epochs == 1 ? Scale{false, 0.5, 1.5, kLeft, kRight} : make_scale(1, last, false, 0.02, kLeft, kRight);
  const bool loss = family.name.find("loss") != std::string::npos || family.name.find("mse") != std::string::npos;
  if (low > high) low = 0, high = 1;
  family.cut = better_high > 0 && high / better_high > 100;
  if (family.cut) high = 2 * better_high;
  family.y = make_scale(low, high, loss && low > 0 && high / low > kLogFrom, 0.05, kBottom, kTop);
  if (!family.y.log && low >= 0) family.y.low = std::max(0.0, family.y.low);
}

std::vector<Family> families_of(const Figure& figure) {
  const RunView& view = figure.view;
  std::vector<const journal::FitRecord*> order;
  std::set<std::string> names;
  const auto name_families = [&](const std::vector<journal::Curve>& curves) {
    for (const journal::Curve& curve : curves)
      if (!curve.values.empty()) names.insert(family_of(curve.name));
  };
  for (const journal::FitRecord* record : by_fit(view.plan, view.records)) {
    if (record == nullptr || record->curves.empty()) continue;
    order.push_back(record);
    name_families(record->curves);
  }
  if (view.refit) name_families(view.refit->curves);
  const auto rank = [&](const journal::FitRecord* record) {
    const uint32_t c = view.plan.key(record->fit).candidate;
    return figure.best == c ? 0 : figure.pooled[c].rank;
  };
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  std::vector<Family> families;
  for (const std::string& name : names) {
    if (families.size() == kMaxFamilies) break;
    Family& family = families.emplace_back();
    family.name = name;
    for (const journal::FitRecord* record : order) {
      const search::FitKey key = view.plan.key(record->fit);
      Line line = line_of(name_of(view.plan, key), pretty_params(view.plan, key.candidate), record->curves, name);
      if (line.curves.empty()) continue;
      ++family.fits;
      if (family.lines.size() < kMaxNamed + kMaxPale) family.lines.push_back(std::move(line));
    }
    if (view.refit) {
      const uint32_t candidate = view.refit->refit.value_or(0);
      const bool known = candidate < view.plan.candidates.size();
      Line line = line_of("refit", known ? pretty_params(view.plan, candidate) : "", view.refit->curves, name);
      if (!line.curves.empty()) family.refit = std::move(line);
    }
    set_scales(family);
  }
  return families;
}

// One curve: lines between epochs, a dot where both neighbours are missing, a cross where values stop being finite. Of
// the epochs that share one of `places` along the axis only the lowest and the highest value are drawn.
class Stroke {
 public:
  Stroke(const Family& family, const std::vector<double>& values, size_t places)
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

  const Family& family_;
  const std::vector<double>& values_;
  size_t places_;
  size_t last_ = kNone;  // the epoch drawn last
  size_t last_dot_ = kNone, last_run_ = kNone, last_gap_ = kNone;
  std::string path_;
  std::vector<std::pair<double, double>> dots_, gaps_;
};

void draw_line(Svg& svg, const Family& family, const Line& line, const std::string& classes, bool named) {
  svg.open("curve " + classes, line.hover);
  for (const journal::Curve* curve : line.curves) {
    // The refit has the rows of no other fit: its one curve needs no second look.
    const bool plain = family.kinds.size() == 1 || (family.refit && &line == &*family.refit && line.curves.size() == 1);
    const char* dashes = plain ? "" : kKinds[kind_of(curve->name)].dashes;
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

std::string caption_of(const Family& family) {
  std::string text = fmt::format("{} fit{}", grouped(family.fits), family.fits == 1 ? "" : "s");
  if (family.fits == 0) text = "the refit";
  if (family.lines.size() < family.fits) text += fmt::format(", the {} best drawn", grouped(family.lines.size()));
  if (family.fits > kMaxNamed) text += ", named are those of the best candidates";
  if (family.cut) text += "; lines along the top are beyond it";
  if (family.broken) text += "; cross: not finite";
  if (family.kinds.size() == 1) {
    const Kind& kind = kKinds[*family.kinds.begin()];
    return *kind.said == '\0' ? text : fmt::format("{}; on {} rows", text, kind.said);
  }
  for (const size_t kind : family.kinds) {
    const std::string dashes = kKinds[kind].dashes;
    const std::string look = dashes.empty() ? "solid" : dashes == "dash" ? "dashed" : "dotted";
    text += fmt::format("; {}: {}", look, *kKinds[kind].said == '\0' ? "other" : kKinds[kind].said);
  }
  return text;
}

void draw_legend(Svg& svg, const Family& family) {
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
    const Kind& kind = kKinds[kind_of(family.refit->curves[0]->name)];
    const bool only = family.kinds.size() > 1 && family.refit->curves.size() == 1 && *kind.said != '\0';
    entry(only ? fmt::format("refit, {}", kind.said) : "refit", "refit");
  }
  const size_t named = std::min(family.lines.size(), kMaxNamed);
  for (size_t i = 0; i < named; ++i) entry(family.lines[i].name, fmt::format("k{}", i));
  if (family.fits > named) entry(fmt::format("and {} more", grouped(family.fits - named)), "");
}

std::string draw(const Family& family) {
  std::string shown = elide(family.name, 40);
  std::replace(shown.begin(), shown.end(), '_', ' ');
  Svg svg(kWidth, kHeight, fmt::format("Curves of {} over epochs", shown));
  svg.text(16, 22, shown + " over epochs", "head");
  svg.text(16, 40, caption_of(family), "");
  left_axis(svg, family.y, kLeft, kRight, ticks(family.y, 6));
  bottom_axis(svg, family.x, kBottom, epoch_ticks(family.x));
  svg.text((kLeft + kRight) / 2, kBottom + 40, "epoch", "mid strong");
  svg.text_up(16, (kTop + kBottom) / 2, shown + (family.y.log ? ", log scale" : ""), "mid strong");
  // The best last, so that they lie on top.
  for (size_t i = family.lines.size(); i-- > 0;) {
    const bool named = i < kMaxNamed;
    draw_line(svg, family, family.lines[i], named ? fmt::format("k{}", i) : "pale", named);
  }
  if (family.refit) draw_line(svg, family, *family.refit, "refit", true);
  draw_legend(svg, family);
  return std::move(svg).finish();
}

std::string file_of(const std::string& family, std::set<std::string>& taken) {
  std::string safe;
  for (const char c : family.substr(0, 40)) {
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
  for (const Family& family : families_of(figure)) files.push_back({file_of(family.name, taken), draw(family)});
  return files;
}

}  // namespace mokume::report
