#include "results/nested.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/best.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::results {
namespace {

void add_confusion(const std::vector<NestedFold>& folds, size_t classes, TestResult& pooled) {
  std::vector<int64_t> counts(classes * classes);
  for (const NestedFold& fold : folds) {
    if (!data::checked_confusion(fold.confusion, static_cast<int64_t>(classes), fold.n)) return;
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += fold.confusion[i];
  }
  pooled.confusion = data::Confusion{classes, std::move(counts)};
}

// Returns the mean of a measure over the folds, weighted by their rows if `by_rows`; nothing if a fold lacks it.
std::optional<double> mean_of(const std::vector<NestedFold>& folds, const char* name, bool by_rows) {
  double sum = 0, weights = 0;
  for (const NestedFold& fold : folds) {
    const auto value = fold.measures.find(name);
    if (value == fold.measures.end()) return std::nullopt;
    const double weight = by_rows ? static_cast<double>(fold.n) : 1;
    sum += weight * value->second;
    weights += weight;
  }
  return sum / weights;
}

std::optional<double> pooled_value(const std::vector<NestedFold>& folds, const TestResult& pooled,
                                   const data::MeasureInfo& info) {
  if (info.needs == data::Needs::classes)
    return pooled.confusion ? std::optional(data::value_of(info.measure, *pooled.confusion)) : std::nullopt;
  if (info.measure == data::Measure::rmse) return pooled.mse ? std::optional(std::sqrt(*pooled.mse)) : std::nullopt;
  return mean_of(folds, info.name, info.measure == data::Measure::log_loss || info.measure == data::Measure::mae);
}

// Returns the value of a fold in this metric, or nothing if it lacks one.
std::optional<double> value_in(const NestedFold& fold, const std::string& metric) {
  if (metric == (fold.mse ? "mse" : "error")) return fold.value();
  const auto value = fold.measures.find(metric);
  return value == fold.measures.end() ? std::nullopt : std::optional(value->second);
}

// Returns the metric that selects candidates if all folds have it, or else the error or the mean squared error.
std::string metric_of(const RunView& view) {
  const std::vector<NestedFold>& folds = view.nested->each;
  const auto selecting = selecting_metric(view.metrics);
  const std::string metric = selecting ? view.metrics[*selecting].name : "";
  const bool known = view.nested->pooled.measures.contains(metric) &&
                     std::all_of(folds.begin(), folds.end(), [&](const auto& fold) { return value_in(fold, metric); });
  return known ? metric : view.nested->pooled.mse ? "mse" : "error";
}

}  // namespace

TestResult pool(const std::vector<NestedFold>& folds, int64_t classes) {
  TestResult pooled;
  double squares = 0;
  for (const NestedFold& fold : folds) {
    pooled.errors += fold.errors;
    pooled.n += fold.n;
    if (fold.mse) squares += *fold.mse * static_cast<double>(fold.n);
  }
  if (folds.empty()) return pooled;
  if (folds.front().mse) pooled.mse = squares / static_cast<double>(pooled.n);
  if (classes > 0 && static_cast<size_t>(classes) <= data::kMostConfusedClasses)
    add_confusion(folds, static_cast<size_t>(classes), pooled);
  for (const data::MeasureInfo& one : data::all_measures())
    if (const auto value = pooled_value(folds, pooled, one)) pooled.measures[one.name] = *value;
  return pooled;
}

NestedEstimate estimate_of(const RunView& view) {
  NestedEstimate estimate{metric_of(view)};
  const TestResult& pooled = view.nested->pooled;
  const auto measure = pooled.measures.find(estimate.metric);
  estimate.value = measure == pooled.measures.end() ? pooled.value() : measure->second;
  std::vector<double> each;
  for (const NestedFold& fold : view.nested->each) each.push_back(value_in(fold, estimate.metric).value_or(0));
  estimate.sd = moments(each).sd;
  return estimate;
}

std::string nested_text(const RunView& view) {
  const NestedEstimate estimate = estimate_of(view);
  const Nested& nested = *view.nested;
  const std::string folds = nested.each.size() < nested.folds
                                ? fmt::format("{} of {}", nested.each.size(), nested.folds)
                                : fmt::format("{}", nested.folds);
  return fmt::format("{} {} (sd {}) over {} outer folds, {}", estimate.metric,
                     score_text(estimate.metric, estimate.value), score_spread(estimate.metric, estimate.sd), folds,
                     counted(static_cast<uint64_t>(nested.pooled.n), "row"));
}

}  // namespace mokume::results
