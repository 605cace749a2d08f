// Draws box plots of the fits' values over one parameter, or bars of candidates if no parameter is numeric.
#pragma once

#include <vector>

#include "report/charts/figure.hpp"
#include "report/named_file.hpp"

namespace mokume::report {

std::vector<NamedFile> box_plots(const Figure& figure);
NamedFile candidate_bars(const Figure& figure);

}  // namespace mokume::report
