// The memory that a device may use: the machine's free memory, shared by the ranks and CPU devices on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/backend.h"

namespace mokume::device {

// Reads MemAvailable, in bytes, from the text of /proc/meminfo. Returns nothing if the line is missing or not a number.
std::optional<uint64_t> meminfo_available(std::string_view meminfo);

// Reads a limit reported by control groups (memory.max, memory.limit_in_bytes), in bytes. Returns nothing for "max",
// for the huge number that means "none" in version 1, and for anything that is not a number.
std::optional<uint64_t> cgroup_limit(std::string_view text);

// Returns one counter of a memory.stat by name, or 0 if it is missing.
uint64_t cgroup_counter(std::string_view memory_stat, std::string_view name);

// The paths of the memory control groups listed in /proc/self/cgroup, for version 2 and version 1; "" if there is none.
struct CgroupPaths {
  std::string v2, v1;
};
CgroupPaths cgroup_paths(std::string_view proc_self_cgroup);

// Returns the number of bytes that this process can still allocate: MemAvailable, or less if one of its control groups
// allows less. Reclaimable page cache counts as free. `root` is prepended to /proc and /sys. 0 if nothing is readable.
uint64_t host_available_bytes(const std::string& root = "");

// Tells whether a device uses the host's memory: CPU devices, emulated GPUs, and GPUs without their own memory.
bool in_host_memory(const mk_device_info& info);

// Returns a device's budget in bytes. A GPU with its own memory gets nine tenths of it. A device in the host's memory
// gets nine tenths of `available`, divided by `sharers` (at least 1: the ranks on this host times the devices of this
// kind that each of them uses), or the memory that the driver reports, whichever is less. The remaining tenth is left
// to the program and the drivers.
uint64_t budget_bytes(const mk_device_info& info, uint64_t available, uint32_t sharers);

}  // namespace mokume::device
