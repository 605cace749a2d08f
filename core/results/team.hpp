// The division of a team's work among its devices.
#pragma once

#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns all time in which the device belonged to the team, including idle time.
double present_seconds(const TeamShare& share);

// Returns one share per device, summed over all its fits.
std::vector<TeamShare> by_device(const TeamAccount& account);

// Returns, over all fits, busy time divided by busy, idle and reducing time, with each device weighted by the units
// that it computes per second. 0 without shares.
double efficiency_of(const TeamAccount& account);

}  // namespace mokume::results
