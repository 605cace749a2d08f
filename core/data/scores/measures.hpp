// Measures of a classification on rows whose classes are known. They follow scikit-learn's definitions, so that their
// values can be compared with those of other programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mokume::data {

// The number of rows of each class (row of the matrix) that were predicted as each class (column).
struct Confusion {
  size_t classes = 0;
  std::vector<int64_t> counts;  // classes * classes, row-major

  int64_t at(size_t truth, size_t predicted) const { return counts[truth * classes + predicted]; }
  int64_t rows_of(size_t truth) const;
  int64_t predicted_as(size_t predicted) const;
};

// Files keep the matrix of at most this many classes.
inline constexpr size_t kMostConfusedClasses = 100;

// All labels and predictions are below `classes`, and there are as many of one as of the other.
Confusion count_confusion(std::span<const int32_t> labels, std::span<const int32_t> predicted, size_t classes);

// Returns a matrix read from a file; nothing if it is not one of `rows` rows and that many classes.
std::optional<Confusion> checked_confusion(const std::vector<int64_t>& counts, int64_t classes, int64_t rows);

// Per class; 0 where the quotient has no denominator.
double recall(const Confusion& confusion, size_t c);
double precision(const Confusion& confusion, size_t c);
double f1(const Confusion& confusion, size_t c);

// 1 minus the mean recall of the classes that occur in the rows.
double balanced_error(const Confusion& confusion);

// The area under the ROC curve: the probability that a row of a class has a higher score for this class than a row of
// another class, ties counting half (Hanley and McNeil, Radiology 143, 1982). With more than two classes, the mean over
// all classes, each against the others. `scores` is rows x classes. Nothing if a class is missing or a score is NaN.
std::optional<double> auc(std::span<const int32_t> labels, std::span<const double> scores, size_t classes);

// The mean of -log p(true class), with p of at least 2^-52 so that one row cannot make it infinite. `probabilities` is
// rows x classes. Nothing without rows, or if a probability is NaN.
std::optional<double> log_loss(std::span<const int32_t> labels, std::span<const double> probabilities, size_t classes);

enum class Measure { balanced_error, precision, recall, f1, auc, log_loss };

// What a model must provide for each validated row so that a measure can be computed.
enum class Needs { classes, scores, probabilities };

struct MeasureInfo {
  Measure measure;
  const char* name;  // in configs and tables
  bool larger_is_better;
  Needs needs;
};

// In the order of columns.
std::span<const MeasureInfo> all_measures();
const MeasureInfo* find_measure(std::string_view name);  // null if there is none

// Precision, recall and f1 are means over the classes that occur in labels or predictions ("macro").
double value_of(Measure measure, const Confusion& confusion);  // of those that need classes alone

}  // namespace mokume::data
