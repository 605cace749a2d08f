// The report's sections about devices: when they worked, how a team shared the work, where a profiled run spent its
// time.
#pragma once

#include <string>

#include "results/view.hpp"

namespace mokume::report {

// Each is "" if the view has no such data.
std::string devices_section(const results::RunView& view);
std::string team_section(const results::TeamAccount& account);
std::string profile_section(const std::vector<results::DeviceProfile>& profiles);

}  // namespace mokume::report
