// Selects among the compiled instruction sets.
#pragma once

#include <string_view>

#include "isa/loops.hpp"

namespace mokume::host {

// Returns the loops of sdk::widest_isa(). Throws Error as it does. With `strict`, the loops emulate fused multiply-adds
// where the instruction set has none (isa/fused.hpp).
const Loops& best_loops(bool strict);

// Returns the loops of the named instruction set. Throws Error(MK_DEVICE_ERROR) if this machine does not have it.
const Loops& loops_for(std::string_view isa, bool strict);

}  // namespace mokume::host
