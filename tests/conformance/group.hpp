// Ops of a group against the same ops one by one.
#pragma once

#include "problem.hpp"

namespace mokume::conformance {

// Nothing where the device's backend has no groups; else fails unless three members with problems like these, with
// other values and another first attribute, all of them in one buffer, have in a group the bits that each has alone.
void expect_same_in_group(DeviceUnderTest& dut, const std::vector<Problem>& problems);

}  // namespace mokume::conformance
