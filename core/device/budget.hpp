// The memory that a device may use: what this machine can spare, shared by its ranks and CPU devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/backend.h"

namespace mokume::device {

// MemAvailable in the text of /proc/meminfo, in bytes; nothing if the line is missing or not a number.
std::optional<uint64_t> meminfo_available(std::string_view meminfo);

// A limit as control groups report it (memory.max, memory.limit_in_bytes), in bytes; nothing for "max", for the huge
// number that version 1 uses for "none", and for anything that is not a number.
std::optional<uint64_t> cgroup_limit(std::string_view text);

// One counter of a memory.stat, by name; 0 if it is missing.
uint64_t cgroup_counter(std::string_view memory_stat, std::string_view name);

// The memory control groups listed in /proc/self/cgroup: the paths of version 2 and version 1, "" if there is none.
struct CgroupPaths {
  std::string v2, v1;
};
CgroupPaths cgroup_paths(std::string_view proc_self_cgroup);

// The number of bytes that this process can still allocate: MemAvailable, or less if one of its control groups allows
// less. Reclaimable page cache counts as free. `root` is prepended to /proc and /sys. 0 if nothing can be read.
uint64_t host_available_bytes(const std::string& root = "");

// Whether a device allocates from the host's memory: CPU devices, emulated GPUs, and GPUs without memory of their own.
bool in_host_memory(const mk_device_info& info);

// A device's budget in bytes. GPUs with memory of their own: nine tenths of it. Devices in the host's memory: nine
// tenths of `available`, divided by `sharers` (at least 1: the ranks on this host times the devices of this kind that
// each of them uses), or the memory that the driver reports, if that is less. The remaining tenth is left to the
// program and the drivers.
uint64_t budget_bytes(const mk_device_info& info, uint64_t available, uint32_t sharers);

}  // namespace mokume::device
