// Renders the report's sections about devices: their work over time, each device's share of a team's work, and the
// profile of a run.
#pragma once

#include <string>

#include "results/view.hpp"

namespace mokume::report {

// Each function returns "" if its argument has no data for the section.
std::string devices_section(const results::RunView& view);
std::string team_section(const results::TeamAccount& account);
std::string profile_section(const std::vector<results::DeviceProfile>& profiles);

}  // namespace mokume::report
