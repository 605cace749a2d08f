// Which kernels a device runs: given, remembered, or measured once per device class.
#pragma once

#include <cstdint>

#include "runtime/device.hpp"

namespace mokume::opencl {

// Sets device.choices. In this order: what `choices` fixes (kChoiceKeys; other keys are ignored), what the
// cache directory remembers for this device class, and a probe of tens of milliseconds of kernel time, which is then
// remembered. Throws MK_INVALID_ARGUMENT for a value there is not.
void choose_variants(mk_device& device, const mk_choice* choices, uint32_t n_choices);

}  // namespace mokume::opencl
