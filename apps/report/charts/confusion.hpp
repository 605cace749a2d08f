// The confusion matrix of the test rows.
#pragma once

#include <string>
#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

inline constexpr const char* kConfusionPlot = "plots/confusion.svg";

// Returns the matrix as a plot: a row for each class, a column for each predicted class. Returns nothing without a
// matrix.
std::vector<NamedFile> confusion_plot(const results::RunView& view);

}  // namespace mokume::report
