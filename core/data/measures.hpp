// Computes measures of a classification or regression on rows with known targets. They follow scikit-learn's
// definitions, so that values can be compared with other programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mokume::data {

// Counts the rows of each class (row of the matrix) that were predicted as each class (column).
struct Confusion {
  size_t classes = 0;
  std::vector<int64_t> counts;  // classes * classes, row-major

  int64_t at(size_t truth, size_t predicted) const { return counts[truth * classes + predicted]; }
  int64_t rows_of(size_t truth) const;
  int64_t predicted_as(size_t predicted) const;
};

// Files store the matrix up to this number of classes.
inline constexpr size_t kMostConfusedClasses = 100;

// Expects labels and predictions below `classes`, in equal numbers.
Confusion count_confusion(std::span<const int32_t> labels, std::span<const int32_t> predicted, size_t classes);

// Returns a matrix read from a file, or nothing unless it has `classes` classes and counts `rows` rows.
std::optional<Confusion> checked_confusion(const std::vector<int64_t>& counts, int64_t classes, int64_t rows);

// Return the measure of class `c`, or 0 if the denominator is 0.
double recall(const Confusion& confusion, size_t c);
double precision(const Confusion& confusion, size_t c);
double f1(const Confusion& confusion, size_t c);

// Returns 1 minus the mean recall of the classes that occur in the rows.
double balanced_error(const Confusion& confusion);

// Returns the area under the ROC curve: the probability that a row of a class has a higher score for the class than
// another row (ties count half; Hanley and McNeil, Radiology 143, 1982). For more than two classes, returns the mean of
// each class against the others. `scores` is rows x classes. Returns nothing if a class is missing or a score is NaN.
std::optional<double> auc(std::span<const int32_t> labels, std::span<const double> scores, size_t classes);

// Returns the mean of -log p(true class), where p is at least 2^-52 so that no row can make the mean infinite.
// `probabilities` is rows x classes. Returns nothing without rows, or if a probability is NaN.
std::optional<double> log_loss(std::span<const int32_t> labels, std::span<const double> probabilities, size_t classes);

enum class Measure { balanced_error, precision, recall, f1, auc, log_loss, rmse, mae, r2, explained_variance };

// Tells which model output a measure requires for each validated row. Those that need numbers measure regressions.
enum class Needs { classes, scores, probabilities, numbers };

struct MeasureInfo {
  Measure measure;
  const char* name;  // name in configurations and tables
  bool larger_is_better;
  Needs needs;
};

// Returns all measures in the order of table columns.
std::span<const MeasureInfo> all_measures();
const MeasureInfo* find_measure(std::string_view name);  // returns null for an unknown name

// Computes a measure that requires only classes. Precision, recall and f1 are means over the classes that occur in
// labels or predictions ("macro").
double value_of(Measure measure, const Confusion& confusion);

// Computes a measure that requires numbers: the root of the mean squared error, the mean absolute error, the
// coefficient of determination, or the explained variance. Returns nothing without rows, and for the last two, which
// compare with the variance of the targets, also if all targets are equal.
std::optional<double> value_of(Measure measure, std::span<const float> targets, std::span<const float> predicted);

}  // namespace mokume::data
