// The memory that a device may use.
#pragma once

#include <cstdint>

#include "abi/backend.h"

namespace mokume::device {

// Tells whether a device uses the host's memory: CPU devices, emulated GPUs, and GPUs without their own memory.
bool in_host_memory(const mk_device_info& info);

// Returns a device's budget in bytes. A GPU with its own memory gets nine tenths of it. A device in the host's memory
// gets nine tenths of `available`, divided by `sharers` (at least 1: the ranks on this host times the devices of this
// kind that each of them uses), or the memory that the driver reports, whichever is less. The remaining tenth is left
// to the program and the drivers.
uint64_t budget_bytes(const mk_device_info& info, uint64_t available, uint32_t sharers);

}  // namespace mokume::device
