// Selects the kernels of a device. Each choice is given by the caller, remembered, or measured once per device class.
#pragma once

#include <span>

#include "runtime/device.hpp"
#include "units/units.hpp"

namespace mokume::opencl {

// Sets each member of device.choices from the first source that has a value: `choices`, the cache file of this device
// class, or a race, which takes tens of milliseconds of kernel time. Adds the winners of races to the cache file.
// Ignores unknown keys in `choices`. Throws MK_INVALID_ARGUMENT for an unknown value. `try_units` is that of
// choose_units().
void choose_variants(mk_device& device, std::span<const mk_choice> choices, const TryUnits& try_units);

}  // namespace mokume::opencl
