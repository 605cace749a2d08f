// Compares ops in a group with the same ops run separately.
#pragma once

#include "problem.hpp"

namespace mokume::conformance {

// Three members have problems like these, with other values and another first attribute, all in one buffer. Fails
// unless each member has the same bits in a group as alone. Does nothing if the device's backend has no groups.
void expect_same_in_group(DeviceUnderTest& dut, const std::vector<Problem>& problems);

}  // namespace mokume::conformance
