// Summarises the results of a nested cross-validation.
#pragma once

#include <cstdint>
#include <string>

#include "results/view.hpp"

namespace mokume::results {

// Holds the estimate of a nested cross-validation: the error of all test rows together, or their mean squared error,
// and the spread over the outer folds.
struct NestedEstimate {
  double value = 0;  // a share, or a mean squared error
  double sd = 0;     // sample standard deviation over the folds
  int64_t n = 0;
  bool numbers = false;
};
NestedEstimate estimate_of(const Nested& nested);
// Returns a text such as "error 3.42 % (sd 0.51) over 5 outer folds, 900 rows".
std::string nested_text(const Nested& nested);

}  // namespace mokume::results
