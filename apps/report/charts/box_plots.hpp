// Box plots of the fits' values over one parameter, and bars of candidates if no parameter is numeric.
#pragma once

#include <vector>

#include "report/charts/figure.hpp"

namespace mokume::report {

std::vector<results::NamedFile> box_plots(const Figure& figure);
results::NamedFile candidate_bars(const Figure& figure);

}  // namespace mokume::report
