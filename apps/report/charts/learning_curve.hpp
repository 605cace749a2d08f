// Draws the score of the best candidate over the number of training rows.
#pragma once

#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

inline constexpr const char* kLearningCurve = "plots/learning-curve.svg";

// Returns the plot if the view has a curve of at least two points, otherwise nothing.
std::vector<NamedFile> learning_curve(const results::RunView& view);

}  // namespace mokume::report
