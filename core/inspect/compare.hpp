// Two runs side by side: `mokume compare`.
#pragma once

#include <string>

#include "inspect/inspect.hpp"

namespace mokume::inspect {

// Whole lines: which settings differ, whether fits of one plan have the same values bit for bit and by how much they
// differ, and what each run chose, came to and took. Settings and data decide what may be compared: fits are only where
// both runs have the same plan.
std::string compare_text(const Inspection& a, const Inspection& b);

}  // namespace mokume::inspect
