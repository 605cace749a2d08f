// Assigns cores to the devices of one process. All functions are pure.
#pragma once

#include <cstdint>
#include <vector>

#include "device/device.hpp"

namespace mokume::device {

// Returns whether the device computes on the cores of this process: a CPU, or a GPU that is emulated on a CPU.
bool on_cores(const mk_device_info& info);

// Returns the cores of each device, in the order of `used`. A device that does not compute on the cores of this process
// gets none, but its feeder thread needs a core. The CPU devices divide the other cores, because by measurement,
// devices with their own cores do more work than devices that share all cores. Each CPU device gets at least one core;
// if there are fewer cores than CPU devices, they share cores. An emulated GPU is far slower, so it gets cores of its
// own only if there is no CPU device. Otherwise, it runs on the cores of its backend's CPU device, or on the last core.
std::vector<std::vector<uint32_t>> core_plan(const std::vector<Listed>& used, const std::vector<uint32_t>& cores);

// Marks the emulated GPUs that run next to a CPU device, because their slow work takes cores from that device.
std::vector<bool> spare(const std::vector<Listed>& used);

}  // namespace mokume::device
