// Compares two runs for `mokume compare`.
#pragma once

#include <string>

#include "inspect/inspect.hpp"

namespace mokume::inspect {

struct Comparison {
  std::string text;
  bool same_fits = false;  // both runs have the same plan and hold the same fits and refits, bit for bit
};

// Lists the settings that differ, whether and by how much the values of common fits differ, and the choice, result and
// duration of each run. Compares fits only if both runs have the same plan.
Comparison compare(const Inspection& a, const Inspection& b);

}  // namespace mokume::inspect
