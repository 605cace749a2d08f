// The report's sections about devices: when they worked, how a team shared the work, where a profiled run spent its
// time.
#pragma once

#include <string>

#include "report/view.hpp"

namespace mokume::report {

// Each is "" if the view has no such data.
std::string devices_section(const RunView& view);
std::string team_section(const TeamAccount& account);
std::string profile_section(const std::vector<DeviceProfile>& profiles);

}  // namespace mokume::report
