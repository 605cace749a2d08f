// Computes the errors on the test rows by class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns the names of the classes by label. In older runs, the labels are the names.
std::vector<std::string> class_names(const RunView& view);

struct ClassScore {
  std::string name;
  int64_t rows = 0;
  double precision = 0, recall = 0, f1 = 0;
};
// Returns one score per class, or none if the test result has no confusion matrix.
std::vector<ClassScore> class_scores(const RunView& view);

// Returns the measures of the test rows other than the error, such as "balanced error 1.5 %, macro F1 0.985, AUC
// 0.9991", or "" if there are none.
std::string measures_text(const TestResult& test);

}  // namespace mokume::results
