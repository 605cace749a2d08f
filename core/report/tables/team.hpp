// How the devices of a team shared their work.
#pragma once

#include <string>
#include <vector>

#include "report/view.hpp"

namespace mokume::report {

// Time at work, and all time in which the device belonged to the team.
double present_seconds(const TeamShare& share);

// A share for each device: all its fits added up.
std::vector<TeamShare> by_device(const TeamAccount& account);

// Over all fits: busy time over busy, idle and reducing time, each device weighted by the units that it computes in a
// second. 0 without shares.
double efficiency_of(const TeamAccount& account);

}  // namespace mokume::report
