// Curves over epochs: how fits, the refit and the members of an ensemble learned.
#pragma once

#include <vector>

#include "report/charts/figure.hpp"

namespace mokume::report {

// A plot for each family of curves ("train_loss" and "validation_loss" are of the family "loss"), in the order of
// their names. The fits of the best candidates are named, the refit stands out, and a line is broken, with a cross,
// where a value is not finite.
std::vector<NamedFile> curve_plots(const Figure& figure);

}  // namespace mokume::report
