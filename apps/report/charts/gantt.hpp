// The work of every device over time: bundles are bars on a track, so that idle time is visible.
#pragma once

#include <string>

#include "results/view.hpp"

namespace mokume::report {

std::string gantt(const results::RunView& view);  // "" if no record took time

}  // namespace mokume::report
