// The errors on the test rows by class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns the names of the classes by label, which are their numbers in older runs.
std::vector<std::string> class_names(const RunView& view);

struct ClassScore {
  std::string name;
  int64_t rows = 0;
  double precision = 0, recall = 0, f1 = 0;
};
// Returns one score per class; empty if the test result has no confusion matrix.
std::vector<ClassScore> class_scores(const RunView& view);

// Returns text like "balanced error 1.53 %, F1 0.985, AUC 0.9991": measures of the test rows beyond the error. "" if
// there are none.
std::string measures_text(const TestResult& test);

}  // namespace mokume::results
