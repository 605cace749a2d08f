// Compares two runs: `mokume compare`.
#pragma once

#include <string>

#include "inspect/inspect.hpp"

namespace mokume::inspect {

// Returns lines that list which settings differ, whether fits of one plan have bit-identical values and by how much
// they differ, and the choice, result and duration of each run. Fits are compared only if both runs have the same plan;
// settings and data determine the plan.
std::string compare_text(const Inspection& a, const Inspection& b);

}  // namespace mokume::inspect
