// Draws the work of every device over time. Bundles are bars on a track, so that idle time is visible.
#pragma once

#include <string>

#include "results/view.hpp"

namespace mokume::report {

std::string gantt(const results::RunView& view);  // returns "" if no record took time

}  // namespace mokume::report
