// Selects among the compiled instruction sets.
#pragma once

#include <string_view>

#include "isa/loops.hpp"

namespace mokume::host {

// Returns the loops of sdk::widest_isa(). Throws Error as it does.
const Loops& best_loops();

// Returns the loops of the named instruction set. Throws Error(MK_DEVICE_ERROR) if this machine does not have it.
const Loops& loops_for(std::string_view isa);

}  // namespace mokume::host
