// Selects the kernels of a device. Each choice is given by the caller, remembered, or measured once per device class.
#pragma once

#include <span>

#include "runtime/device.hpp"
#include "variants/variant_set.hpp"

namespace mokume::opencl {

// Returns the given choices, and "" for the others. Ignores unknown keys. Throws MK_INVALID_ARGUMENT for an unknown
// value.
Choices given_choices(std::span<const mk_choice> choices);

// Sets each member of device.choices from the first source that has a value: `given`, the cache file of this device
// class, or a race, which takes tens of milliseconds of kernel time. Adds the winners of races to the cache file.
void choose_variants(mk_device& device, const Choices& given);

// The choice `numerics`, "fast" or "strict", which a run gives. It precedes all others, which depend on it.
extern const VariantSet kNumericsVariants;

// The choice `quotients`: "exact" with strict numerics on a device that does not promise to round correctly.
extern const VariantSet kQuotientVariants;

}  // namespace mokume::opencl
