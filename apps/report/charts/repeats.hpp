// Finds groups of steps that repeat, so that a drawing of many steps shows each group once.
#pragma once

#include <vector>

#include "results/view.hpp"

namespace mokume::report {

// Describes a step as the drawing shows it. `times` and `length` are set for the first row of a group that repeats.
struct StepRow {
  size_t step = 0;
  std::vector<size_t> inputs = {};  // rows, in ascending order and each once
  size_t times = 1, length = 1;
};

// Returns a row for each step, or, if there are more than `most` steps, a row for each step of a first repeat and for
// each step outside repeats.
std::vector<StepRow> step_rows(const std::vector<results::Step>& steps, size_t most);

}  // namespace mokume::report
