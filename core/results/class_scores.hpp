// Computes the errors by class on test rows or validated rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns the names of the classes by label. In older runs, the labels are the names.
std::vector<std::string> class_names(const RunView& view);

// Points to the most honest result that has a confusion matrix: the one on the test rows, or else that of all outer
// folds of a nested cross-validation, or else the best candidate's on the rows that its folds validate.
struct ResultByClass {
  enum class Rows { none, test, outer, validated };
  Rows rows = Rows::none;
  const TestResult* result = nullptr;  // null for Rows::none

  const char* rows_text() const;  // returns "test", "outer test" or "validated"
};
ResultByClass result_by_class(const RunView& view);

struct ClassScore {
  std::string name;
  int64_t rows = 0;
  double precision = 0, recall = 0, f1 = 0;
};
// Returns one score per class, or none if the result has no confusion matrix.
std::vector<ClassScore> class_scores(const RunView& view, const TestResult& result);

// Returns the measures other than the error, such as "balanced error 1.5 %, macro F1 0.985, AUC 0.9991" or "RMSE 0.52,
// MAE 0.31, R2 0.78", or "" if there are none.
std::string measures_text(const TestResult& test);

}  // namespace mokume::results
