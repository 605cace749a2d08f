// Ops in a group compared with the same ops one by one.
#pragma once

#include "problem.hpp"

namespace mokume::conformance {

// Three members have problems like these, with other values and another first attribute, all in one buffer. Fails
// unless each has in a group the bits that it has alone. Does nothing if the device's backend has no groups.
void expect_same_in_group(DeviceUnderTest& dut, const std::vector<Problem>& problems);

}  // namespace mokume::conformance
