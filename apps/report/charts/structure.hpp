// Draws the steps of a candidate from top to bottom, such as the layers of its network, with the ways between them.
#pragma once

#include <vector>

#include "report/named_file.hpp"
#include "results/view.hpp"

namespace mokume::report {

inline constexpr const char* kStructurePlot = "plots/network.svg";

// Returns the drawing if the view has steps, otherwise nothing. A drawing of many steps shows repeats of a group once.
std::vector<NamedFile> structure_plot(const results::RunView& view);

}  // namespace mokume::report
