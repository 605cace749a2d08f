// How much memory a device may take: what this machine can spare, shared by the ranks and CPU devices on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/backend.h"

namespace mokume::device {

// MemAvailable of the text of /proc/meminfo, in bytes; nothing if the line is missing or no number.
std::optional<uint64_t> meminfo_available(std::string_view meminfo);

// A limit as control groups write it (memory.max, memory.limit_in_bytes), in bytes; nothing for "max", for the huge
// number by which version 1 says "none", and for what is no number.
std::optional<uint64_t> cgroup_limit(std::string_view text);

// One counter of a memory.stat, by name; 0 if it is not there.
uint64_t cgroup_counter(std::string_view memory_stat, std::string_view name);

// The control groups that /proc/self/cgroup names for memory: version 2's path and version 1's, "" if there is none.
struct CgroupPaths {
  std::string v2, v1;
};
CgroupPaths cgroup_paths(std::string_view proc_self_cgroup);

// The bytes that this process may still take: MemAvailable, or less where a control group above it leaves less. Page
// cache that can be dropped counts as free. `root` is put before /proc and /sys. 0 if nothing can be read.
uint64_t host_available_bytes(const std::string& root = "");

// A device's budget in bytes. GPUs: nine tenths of their memory. CPU devices and emulated GPUs: nine tenths of
// `available` divided by `sharers` (at least 1: ranks of this host times the CPU devices that each of them uses), or
// what the driver reports where that is less. The remaining tenth is for the program and the drivers.
uint64_t budget_bytes(const mk_device_info& info, uint64_t available, uint32_t sharers);

}  // namespace mokume::device
