// Curves over epochs of the fits, the refit and the members of an ensemble.
#pragma once

#include <vector>

#include "report/charts/figure.hpp"
#include "report/named_file.hpp"

namespace mokume::report {

// Returns a plot for each family of curves ("train_loss" and "validation_loss" belong to the family "loss"), in name
// order. The fits of the best candidates are named, and the refit is highlighted. At a value that is not finite, a line
// is interrupted and marked with a cross.
std::vector<NamedFile> curve_plots(const Figure& figure);

}  // namespace mokume::report
