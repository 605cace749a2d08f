// Draws the predictions of a regression: predicted numbers over true ones, and the residuals.
#pragma once

#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

inline constexpr const char* kPredictedPlot = "plots/predicted.svg";
inline constexpr const char* kResidualsPlot = "plots/residuals.svg";

// Returns both plots if the validated rows of the view have points, otherwise nothing.
std::vector<NamedFile> number_plots(const results::RunView& view);

}  // namespace mokume::report
