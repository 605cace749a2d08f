// Assigns cores to the devices of one process. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "device/device.hpp"

namespace mokume::device {

// Tells whether the device computes on the cores and in the memory of this process: a CPU, or a GPU emulated on a CPU.
bool on_cores(const mk_device_info& info);

// Returns the cores of each device, in the order of `used`; no cores for devices that do not compute on the cores of
// the process. A single CPU device gets the cores that the feeder threads of the other devices leave, at least one.
// Several CPU devices divide these cores among themselves, and share them if there are fewer cores than devices: by
// measurement, devices with their own cores do more work than devices that share all cores. An emulated GPU, which is
// far slower, gets its own cores only if there is no CPU device; otherwise it runs on the cores of its backend's CPU
// device, or on the last core.
std::vector<std::vector<uint32_t>> core_plan(const std::vector<Listed>& used, const std::vector<uint32_t>& cores);

// Marks the emulated GPUs that run next to a CPU device: their slow work takes cores from it.
std::vector<bool> spare(const std::vector<Listed>& used);

}  // namespace mokume::device
