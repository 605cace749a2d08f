// The host backend's description of the machine it runs on.
#pragma once

#include <string>
#include <vector>

#include "abi/backend.h"

namespace mokume::host {

inline constexpr uint32_t kFastDevice = 0;
inline constexpr uint32_t kOracleDevice = 1;
inline constexpr uint32_t kDevices = 2;

mk_device_info device_info(uint32_t index);

// Formats sorted numbers as ranges: 0, 1, 2, 3, 8, 10, 11 becomes "0-3,8,10-11".
std::string compact_list(const std::vector<int>& sorted);

}  // namespace mokume::host
