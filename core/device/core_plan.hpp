// Which cores each device of one process computes on. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "device/device.hpp"

namespace mokume::device {

// Whether it computes on the cores of this process and in its memory: a CPU, or a GPU emulated on one.
bool on_cores(const mk_device_info& info);

// The cores of each device, in the order of `used`; empty for devices that compute on none of the process's. A CPU
// device alone gets the cores that the feeder threads of the others leave, at least one. Several that were named
// together cut these among themselves, in turn where there are fewer cores than devices: measured, each on its own core
// does more than all on all. An emulated GPU, far slower than they, gets cores of its own only if it is alone; beside
// them it runs where its backend's CPU device does, or on the last core.
std::vector<std::vector<uint32_t>> core_plan(const std::vector<Listed>& used, const std::vector<uint32_t>& cores);

// Which devices are emulated GPUs beside a CPU device: what they compute, slowly, is taken from its cores.
std::vector<bool> spare(const std::vector<Listed>& used);

}  // namespace mokume::device
