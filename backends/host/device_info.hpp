// Describes the machine on which the host backend runs.
#pragma once

#include "abi/backend.h"

namespace mokume::host {

inline constexpr uint32_t kFastDevice = 0;
inline constexpr uint32_t kOracleDevice = 1;
inline constexpr uint32_t kDevices = 2;

mk_device_info device_info(uint32_t index);

}  // namespace mokume::host
