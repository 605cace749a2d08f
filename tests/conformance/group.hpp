// Compares ops in a group with the same ops run separately.
#pragma once

#include "problem.hpp"

namespace mokume::conformance {

// Makes members from these problems, with other values and another first attribute, all in one buffer. Fails unless
// each member yields the same bits in the group as it does alone. Does nothing if the backend has no groups.
void expect_same_in_group(DeviceUnderTest& dut, const std::vector<Problem>& problems, size_t count = 3);

}  // namespace mokume::conformance
