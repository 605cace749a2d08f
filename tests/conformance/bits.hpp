// Compares the bits of results between two runs of this program, for example with different instruction sets.
#pragma once

#include <string>
#include <vector>

#include "problem.hpp"

namespace mokume::conformance {

// Writes a line with the hash of the results to the file that MOKUME_KEEP_BITS names. Expects the line of the same name
// in the file that MOKUME_EXPECT_BITS names. Does nothing without these variables.
void keep_or_expect_bits(const std::string& name, const std::vector<Words>& results);

}  // namespace mokume::conformance
