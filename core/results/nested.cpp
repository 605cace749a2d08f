#include "results/nested.hpp"

#include <fmt/format.h>

#include "results/best.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"

namespace mokume::results {

NestedEstimate estimate_of(const Nested& nested) {
  NestedEstimate estimate;
  double sum = 0;
  std::vector<double> each;
  for (const NestedFold& fold : nested.each) {
    each.push_back(fold.value());
    sum += fold.value() * static_cast<double>(fold.n);
    estimate.n += fold.n;
    estimate.numbers |= fold.mse.has_value();
  }
  if (estimate.n > 0) estimate.value = sum / static_cast<double>(estimate.n);
  estimate.sd = moments(each).sd;
  return estimate;
}

std::string nested_text(const Nested& nested) {
  const NestedEstimate estimate = estimate_of(nested);
  const std::string metric = estimate.numbers ? "mse" : "error";
  const std::string folds = nested.each.size() < nested.folds
                                ? fmt::format("{} of {}", nested.each.size(), nested.folds)
                                : fmt::format("{}", nested.folds);
  return fmt::format("{} {} (sd {}) over {} outer folds, {}", metric, score_text(metric, estimate.value),
                     score_spread(metric, estimate.sd), folds, counted(static_cast<uint64_t>(estimate.n), "row"));
}

}  // namespace mokume::results
