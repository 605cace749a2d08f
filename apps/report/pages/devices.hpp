// The report's sections about devices: their work over time, the shares of a team, and the profile of a run.
#pragma once

#include <string>

#include "results/view.hpp"

namespace mokume::report {

// Each section is "" if the view has no such data.
std::string devices_section(const results::RunView& view);
std::string team_section(const results::TeamAccount& account);
std::string profile_section(const std::vector<results::DeviceProfile>& profiles);

}  // namespace mokume::report
