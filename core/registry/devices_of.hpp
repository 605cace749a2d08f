// Lists the devices of a backend without trusting its answer.
#pragma once

#include <vector>

#include "abi/backend.h"

namespace mokume::registry {

inline constexpr uint32_t kMostDevices = 4096;  // limit for one backend

// Returns the devices that enumerate() lists. Throws the backend's error, or Error(MK_DEVICE_ERROR) if the backend
// claims more than kMostDevices, an info has the wrong size, or a text has no end. Replaces characters that would
// control a terminal with '?'.
std::vector<mk_device_info> devices_of(const mk_backend& backend);

}  // namespace mokume::registry
