// Renders the report's section about failures, lost nodes and retired devices.
#pragma once

#include <string>

#include "results/view.hpp"

namespace mokume::report {

// Lists all events except superseded records, and fits whose results differ between attempts. Returns "" if none exist.
std::string events_section(const results::RunView& view);

}  // namespace mokume::report
