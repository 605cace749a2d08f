// Draws curves over epochs for the fits, the refit and the members of an ensemble.
#pragma once

#include <vector>

#include "report/charts/figure.hpp"
#include "report/named_file.hpp"

namespace mokume::report {

// Returns a plot for each family of curves ("train_loss" and "validation_loss" belong to the family "loss"), in name
// order. Names the fits of the best candidates and highlights the refit. A line is interrupted where values are not
// finite; named lines have a cross there.
std::vector<NamedFile> curve_plots(const Figure& figure);

}  // namespace mokume::report
