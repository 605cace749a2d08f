// Selects the kernels of a device: given, remembered, or measured once per device class.
#pragma once

#include <span>

#include "runtime/device.hpp"

namespace mokume::opencl {

// Sets device.choices from three sources, in this order: what `choices` fixes (other keys are ignored), what the cache
// directory remembers for this device class, and races of tens of milliseconds of kernel time, whose winners are then
// remembered. Throws MK_INVALID_ARGUMENT for an unknown value.
void choose_variants(mk_device& device, std::span<const mk_choice> choices);

}  // namespace mokume::opencl
