#include "report/charts/curve_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mokume::report {
namespace {

constexpr size_t kMaxPale = 300;
constexpr size_t kMaxFamilies = 16;              // of fits, and of members
constexpr double kLogFrom = 31.622776601683793;  // 1.5 decades

constexpr std::array<CurveKind, 4> kKinds = {
    {{"validation_", "", "validation"}, {"train_", "dash", "training"}, {"test_", "dots", "test"}, {"", "", ""}}};

std::string family_of(const std::string& name) {
  const std::string family = name.substr(std::string(kKinds[kind_of(name)].prefix).size());
  return family.empty() ? name : family;
}

bool numbered(const search::Plan& plan) { return plan.bootstraps > 1 && plan.own_candidates == 0; }

// "candidate 3, fold 1", without what all fits share or what follows from the candidate. Where that would not fit into
// the legend, "3,0,1": candidate, bootstrap, fold.
std::string name_of(const search::Plan& plan, const search::FitKey& key) {
  if (numbered(plan)) return fmt::format("{},{},{}", key.candidate, key.bootstrap, key.fold);
  std::string text = plan.candidates.size() > 1 ? fmt::format("candidate {}", key.candidate) : "";
  if (plan.folds > 1 || text.empty()) text += fmt::format("{}fold {}", text.empty() ? "" : ", ", key.fold);
  return text;
}

std::string full_name(const search::Plan& plan, const search::FitKey& key) {
  return plan.bootstraps == 1
             ? name_of(plan, key)
             : fmt::format("candidate {}, bootstrap {}, fold {}", key.candidate, key.bootstrap, key.fold);
}

CurveLine line_of(const std::string& name, const std::string& params, const std::vector<journal::Curve>& curves,
                  const std::string& family) {
  CurveLine line{name, params.empty() ? name : name + '\n' + params, {}};
  for (const journal::Curve& curve : curves) {
    if (curve.values.empty() || family_of(curve.name) != family) continue;
    line.curves.push_back(&curve);
    line.hover += fmt::format("\n{}: {} after {} epoch{}", curve.name, pretty(curve.values.back()), curve.values.size(),
                              curve.values.size() == 1 ? "" : "s");
  }
  return line;
}

// Of what was trained on all rows.
CurveLine refit_line(const std::string& name, const search::Plan& plan, const journal::FitRecord& refit,
                     const std::string& family) {
  const uint32_t candidate = refit.refit.value_or(0);
  const bool known = candidate < plan.candidates.size();
  return line_of(name, known ? pretty_params(plan, candidate) : "", refit.curves, family);
}

// One pair of axes for all lines that are drawn. A fit that diverged must not press all others into the bottom: where
// the worse half would stretch the axis a hundredfold, it ends a little above the better half and the refit. Members
// are in no such order; all of them are shown whole.
void set_scales(CurveFamily& family) {
  double low = std::numeric_limits<double>::infinity(), high = -low, better_high = -low;
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
        low = std::min(low, value);
        high = std::max(high, value);
        if (better) better_high = std::max(better_high, value);
      }
    }
  };
  for (size_t i = 0; i < family.lines.size(); ++i)
    add(family.lines[i], i < kMaxNamedCurves, family.members || 2 * i < family.lines.size());
  if (family.refit) add(*family.refit, true, true);
  const double last = static_cast<double>(epochs);
  using Frame = CurveFrame;
  family.x = epochs == 1 ? Scale{false, 0.5, 1.5, Frame::kLeft, Frame::kRight}
                         : make_scale(1, last, false, 0.02, Frame::kLeft, Frame::kRight);
  const bool loss = family.name.find("loss") != std::string::npos || family.name.find("mse") != std::string::npos;
  if (low > high) low = 0, high = 1;
  family.cut = better_high > 0 && high / better_high > 100;
  if (family.cut) high = 2 * better_high;
  family.y = make_scale(low, high, loss && low > 0 && high / low > kLogFrom, 0.05, Frame::kBottom, Frame::kTop);
  if (!family.y.log && low >= 0) family.y.low = std::max(0.0, family.y.low);
}

void add_line(CurveFamily& family, CurveLine line) {
  if (line.curves.empty()) return;
  ++family.count;
  if (family.lines.size() < kMaxNamedCurves + kMaxPale) family.lines.push_back(std::move(line));
}

void name_families(const std::vector<journal::Curve>& curves, std::set<std::string>& names) {
  for (const journal::Curve& curve : curves)
    if (!curve.values.empty()) names.insert(family_of(curve.name));
}

void add_families_of_fits(const Figure& figure, std::vector<CurveFamily>& families) {
  const RunView& view = figure.view;
  std::vector<const journal::FitRecord*> order;
  std::set<std::string> names;
  for (const journal::FitRecord* record : by_fit(view.plan, view.records)) {
    if (record == nullptr || record->curves.empty()) continue;
    order.push_back(record);
    name_families(record->curves, names);
  }
  if (view.refit) name_families(view.refit->curves, names);
  const auto rank = [&](const journal::FitRecord* record) {
    const uint32_t c = view.plan.key(record->fit).candidate;
    return figure.best == c ? 0 : figure.pooled[c].rank;
  };
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  for (const std::string& name : names) {
    if (families.size() == kMaxFamilies) break;
    CurveFamily& family = families.emplace_back();
    family.name = name;
    family.numbered = numbered(view.plan);
    for (const journal::FitRecord* record : order) {
      const search::FitKey key = view.plan.key(record->fit);
      CurveLine line =
          line_of(full_name(view.plan, key), pretty_params(view.plan, key.candidate), record->curves, name);
      line.name = name_of(view.plan, key);
      add_line(family, std::move(line));
    }
    if (view.refit) {
      CurveLine line = refit_line("refit", view.plan, *view.refit, name);
      if (!line.curves.empty()) family.refit = std::move(line);
    }
    set_scales(family);
  }
}

void add_families_of_members(const RunView& view, std::vector<CurveFamily>& families) {
  std::set<std::string> names;
  for (const journal::FitRecord& refit : view.refits) name_families(refit.curves, names);
  const size_t before = families.size();
  for (const std::string& name : names) {
    if (families.size() - before == kMaxFamilies) break;
    CurveFamily& family = families.emplace_back();
    family.name = name;
    family.members = true;
    for (const journal::FitRecord& refit : view.refits)
      add_line(family, refit_line(fmt::format("member {}", refit.fit - view.plan.n_fits()), view.plan, refit, name));
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
