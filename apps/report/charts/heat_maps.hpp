// Draws heat maps of the selecting metric's mean over two parameters.
#pragma once

#include <vector>

#include "report/charts/figure.hpp"
#include "report/named_file.hpp"

namespace mokume::report {

// Returns one map for each group of a figure with a surface, up to a limit of maps and of cells in all maps.
std::vector<NamedFile> heat_maps(const Figure& figure);

}  // namespace mokume::report
