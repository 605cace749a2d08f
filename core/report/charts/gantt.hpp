// The work of every device over time: bundles are bars on a track, so that idle time is visible.
#pragma once

#include <string>

#include "report/view.hpp"

namespace mokume::report {

std::string gantt(const RunView& view);  // "" if no record took time

}  // namespace mokume::report
