// Summarises the results of a nested cross-validation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Pools the test rows of outer folds as one sample. Errors, mean squared errors, and the measures that depend on them
// or on the confusion matrix are those of all rows together; the log loss and the mean absolute error, too. Measures
// that compare rows with each other (AUC, R2, explained variance) are means over the folds. A measure that a fold lacks
// is left out, and so is a confusion matrix that does not have `classes` classes.
TestResult pool(const std::vector<NestedFold>& folds, int64_t classes);

// Holds the estimate of a nested cross-validation by the metric that selects candidates, or by the error or the mean
// squared error if test rows have no such measure.
struct NestedEstimate {
  std::string metric;
  double value = 0;  // value over the pooled rows
  double sd = 0;     // sample standard deviation over the folds
};
NestedEstimate estimate_of(const RunView& view);  // requires view.nested
// Returns a text such as "balanced error 3.42 % (sd 0.51) over 5 outer folds, 900 rows".
std::string nested_text(const RunView& view);  // requires view.nested

}  // namespace mokume::results
