// Summarises the division of a team's work among its devices.
#pragma once

#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns the seconds in which the device belonged to the team, including idle time.
double present_seconds(const TeamShare& share);

// Returns one share per device, summed over all its fits.
std::vector<TeamShare> by_device(const TeamAccount& account);

// Returns busy time divided by busy, idle and reducing time, over all fits, where each device has the weight of the
// units that it computes per second. Returns 0 without shares.
double efficiency_of(const TeamAccount& account);

}  // namespace mokume::results
