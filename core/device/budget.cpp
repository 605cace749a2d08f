#include "device/budget.hpp"

#include <algorithm>

namespace mokume::device {

bool in_host_memory(const mk_device_info& info) {
  return info.kind == MK_DEVICE_CPU || (info.flags & (MK_DEVICE_SOFTWARE | MK_DEVICE_SHARED_MEMORY)) != 0;
}

uint64_t budget_bytes(const mk_device_info& info, uint64_t available, uint32_t sharers) {
  const auto nine_tenths = [](uint64_t bytes) { return bytes - bytes / 10; };
  if (!in_host_memory(info) && info.memory_bytes != 0) return nine_tenths(info.memory_bytes);
  const uint64_t share = nine_tenths(available) / std::max(sharers, 1U);
  return info.memory_bytes == 0 ? share : std::min(share, info.memory_bytes);
}

}  // namespace mokume::device
