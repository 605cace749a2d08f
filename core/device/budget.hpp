// Computes the memory that a device may use.
#pragma once

#include <cstdint>

#include "abi/backend.h"

namespace mokume::device {

// Returns whether a device uses the host's memory, as CPU devices, emulated GPUs and GPUs without their own memory do.
bool in_host_memory(const mk_device_info& info);

// Returns a device's budget in bytes. A device with its own memory gets nine tenths of that memory. A device in the
// host's memory gets nine tenths of `available`, divided by `sharers` (the number of ranks on this host times the
// number of such devices that each rank uses), or the memory that the driver reports if that is less. The program and
// the drivers need the remaining tenth.
uint64_t budget_bytes(const mk_device_info& info, uint64_t available, uint32_t sharers);

}  // namespace mokume::device
