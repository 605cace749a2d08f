// Ops of a group against the same ops one by one.
#pragma once

#include "problem.hpp"

namespace mokume::conformance {

// Nothing where the device's backend has no groups; else fails unless three problems like this one, with other values
// and another first attribute, lying behind each other in the same buffers, have in a group the bits that each has
// alone.
void expect_same_in_group(DeviceUnderTest& dut, const Problem& problem);

}  // namespace mokume::conformance
