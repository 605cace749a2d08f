// Draws the confusion matrix of the test rows.
#pragma once

#include <string>
#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

inline constexpr const char* kConfusionPlot = "plots/confusion.svg";

// Returns a plot with a row for each class and a column for each predicted class, or nothing if there is no matrix.
std::vector<NamedFile> confusion_plot(const results::RunView& view);

}  // namespace mokume::report
