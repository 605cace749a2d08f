#include "report/charts/curve_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mokume::report {
namespace {

using journal::FitRecord;
using Frame = CurveFrame;

constexpr size_t kMaxPale = 300;
constexpr size_t kMaxFamilies = 16;              // applies to fits and to members
constexpr double kLogFrom = 31.622776601683793;  // 1.5 decades

constexpr CurveKind kKinds[] = {{"validation_", "", "solid", "validation"},
                                {"train_", "dash", "dashed", "training"},
                                {"test_", "dots", "dotted", "test"},
                                {"", "", "solid", ""}};

std::string family_of(const std::string& name) {
  const std::string family = name.substr(std::string(kKinds[kind_of(name)].prefix).size());
  return family.empty() ? name : family;
}

bool numbered(const search::Plan& plan) { return plan.bootstraps > 1 && plan.own_candidates == 0; }

// Returns a name like "candidate 3, fold 1", without parts that all fits share or that follow from the candidate. If
// such names would not fit into the legend, returns candidate, bootstrap and fold, like "3,0,1".
std::string name_of(const search::Plan& plan, const search::FitKey& key) {
  if (numbered(plan)) return fmt::format("{},{},{}", key.candidate, key.bootstrap, key.fold);
  std::string text = plan.candidates.size() > 1 ? fmt::format("candidate {}", key.candidate) : "";
  if (plan.folds > 1 || text.empty()) text += fmt::format("{}fold {}", text.empty() ? "" : ", ", key.fold);
  return text;
}

std::string full_name(const search::Plan& plan, const search::FitKey& key) {
  if (plan.bootstraps == 1) return name_of(plan, key);
  return fmt::format("candidate {}, bootstrap {}, fold {}", key.candidate, key.bootstrap, key.fold);
}

CurveLine line_of(const std::string& name, const search::Plan& plan, size_t candidate, const FitRecord& record,
                  const std::string& family) {
  const std::string params = candidate < plan.candidates.size() ? results::pretty_params(plan, candidate) : "";
  CurveLine line{name, params.empty() ? name : name + '\n' + params, {}};
  for (const journal::Curve& curve : record.curves) {
    if (curve.values.empty() || family_of(curve.name) != family) continue;
    line.curves.push_back(&curve);
    line.hover += fmt::format("\n{}: {} after {} epoch{}", curve.name, results::pretty(curve.values.back()),
                              curve.values.size(), curve.values.size() == 1 ? "" : "s");
  }
  return line;
}

// Sets one pair of axes for all drawn lines. A fit that diverged must not squeeze all others into the bottom.
// Therefore, if the worse half of the fits would stretch the axis a hundredfold, the axis ends a little above the
// better half and the refit. Members are not ordered by quality, so the plot shows all of them in full.
void set_scales(CurveFamily& family) {
  results::Extent all, better_ones;
  size_t epochs = 1;
  const auto add = [&](const CurveLine& line, bool named, bool better) {
    for (const journal::Curve* curve : line.curves) {
      epochs = std::max(epochs, curve->values.size());
      family.kinds.insert(kind_of(curve->name));
      for (const double value : curve->values) {
        if (!usable(value)) {
          family.broken |= named;
          continue;
        }
        all.add(value);
        if (better) better_ones.add(value);
      }
    }
  };
  for (size_t i = 0; i < family.lines.size(); ++i)
    add(family.lines[i], i < kMaxNamedCurves, family.members || 2 * i < family.lines.size());
  if (family.refit) add(*family.refit, true, true);
  family.x = epochs == 1 ? Scale{false, 0.5, 1.5, Frame::kLeft, Frame::kRight}
                         : make_scale(1, epochs, false, 0.02, Frame::kLeft, Frame::kRight);
  family.cut = better_ones.high > 0 && all.high / better_ones.high > 100;
  if (family.cut) all.high = 2 * better_ones.high;
  const bool loss = family.name.find("loss") != std::string::npos || family.name.find("mse") != std::string::npos;
  family.y = value_scale(all, loss && all.low > 0 && all.high / all.low > kLogFrom, Frame::kBottom, Frame::kTop);
}

void add_line(CurveFamily& family, CurveLine line) {
  if (line.curves.empty()) return;
  ++family.count;
  if (family.lines.size() < kMaxNamedCurves + kMaxPale) family.lines.push_back(std::move(line));
}

using Records = std::vector<const FitRecord*>;

std::vector<std::string> family_names(const Records& records) {
  std::set<std::string> names;
  for (const FitRecord* record : records)
    for (const journal::Curve& curve : record->curves)
      if (!curve.values.empty()) names.insert(family_of(curve.name));
  std::vector<std::string> first(names.begin(), names.end());
  first.resize(std::min(first.size(), kMaxFamilies));
  return first;
}

void add_families_of_fits(const Figure& figure, std::vector<CurveFamily>& families) {
  const search::Plan& plan = figure.view.plan;
  Records order = results::recorded(figure.view);
  std::erase_if(order, [](const FitRecord* record) { return record->curves.empty(); });
  const auto rank = [&](const FitRecord* record) {
    const uint32_t c = plan.key(record->fit).candidate;
    return figure.best == c ? 0 : figure.pooled[c].rank;
  };
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  const auto& refit = figure.view.refit;
  Records all = order;
  if (refit) all.push_back(&*refit);
  for (const std::string& name : family_names(all)) {
    CurveFamily& family = families.emplace_back();
    family.name = name;
    family.numbered = numbered(plan);
    for (const FitRecord* record : order) {
      const search::FitKey key = plan.key(record->fit);
      CurveLine line = line_of(full_name(plan, key), plan, key.candidate, *record, name);
      line.name = name_of(plan, key);
      add_line(family, std::move(line));
    }
    if (refit) family.refit = line_of("refit", plan, refit->refit.value_or(0), *refit, name);
    if (refit && family.refit->curves.empty()) family.refit.reset();
    set_scales(family);
  }
}

void add_families_of_members(const results::RunView& view, std::vector<CurveFamily>& families) {
  Records all;
  for (const FitRecord& refit : view.refits) all.push_back(&refit);
  for (const std::string& name : family_names(all)) {
    CurveFamily& family = families.emplace_back();
    family.name = name;
    family.members = true;
    for (const FitRecord* refit : all)
      add_line(family, line_of(fmt::format("member {}", refit->fit - view.plan.n_fits()), view.plan,
                               refit->refit.value_or(0), *refit, name));
    set_scales(family);
  }
}

}  // namespace

const CurveKind& curve_kind(size_t kind) { return kKinds[kind]; }

size_t kind_of(const std::string& name) {
  size_t kind = 0;
  while (!name.starts_with(kKinds[kind].prefix)) ++kind;
  return kind;
}

bool usable(double value) { return std::abs(value) < 1e100; }

std::vector<CurveFamily> curve_families(const Figure& figure) {
  std::vector<CurveFamily> families;
  add_families_of_fits(figure, families);
  if (figure.view.plan.bootstraps > 1) add_families_of_members(figure.view, families);
  return families;
}

}  // namespace mokume::report
