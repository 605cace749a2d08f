// Which of the compiled instruction sets this machine can run.
#pragma once

#include <string_view>

#include "isa/loops.hpp"

namespace mokume::host {

// The widest of "avx512", "avx2" and "base" that the processor and its system support.
const Loops& best_loops();

// The loops of one instruction set by name. Throws Error(MK_DEVICE_ERROR) if it is unknown or this machine lacks it.
const Loops& loops_for(std::string_view isa);

}  // namespace mokume::host
