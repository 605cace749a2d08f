// Combines built-in programs in one source, for sequence.hpp. Each program is a unit in which every name has a unique
// suffix. (Linking is not an option, because programs linked by PoCL no longer treat subnormals as zeros.)
#pragma once

#include <string>

#include "runtime/device.hpp"

namespace mokume::opencl {

// Returns the program with its kernels as functions, followed by `functions`, which call them.
std::string unit_source(const mk_device& device, const BuiltIn& program, const std::string& functions,
                        const std::string& suffix);

}  // namespace mokume::opencl
