// Asks a backend for its devices without trusting the answer.
#pragma once

#include <vector>

#include "abi/backend.h"

namespace mokume::registry {

inline constexpr uint32_t kMostDevices = 4096;  // of one backend

// Returns what enumerate() lists. Throws the backend's error, or Error(MK_DEVICE_ERROR) if it claims more than
// kMostDevices, if the size of an info is not that of this program, or if a text has no end. Characters that would
// control a terminal become '?'.
std::vector<mk_device_info> devices_of(const mk_backend& backend);

}  // namespace mokume::registry
