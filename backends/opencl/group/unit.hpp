// Built-in programs one after the other in one source, for sequence.hpp: each program is a unit in which every name has
// a suffix of its own. (They are not linked: what PoCL links no longer takes subnormals for zeros.)
#pragma once

#include <string>

#include "runtime/device.hpp"

namespace mokume::opencl {

// The program with its kernels as functions and, after it, `functions`, which call them.
std::string unit_source(const mk_device& device, const BuiltIn& program, const std::string& functions,
                        const std::string& suffix);

}  // namespace mokume::opencl
