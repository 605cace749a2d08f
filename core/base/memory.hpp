// Reads how much memory this machine and its control groups leave to this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mokume::base {

// Reads MemAvailable, in bytes, from the text of /proc/meminfo. Returns nothing if the line is missing or malformed.
std::optional<uint64_t> meminfo_available(std::string_view meminfo);

// Reads a limit reported by control groups (memory.max, memory.limit_in_bytes), in bytes. Returns nothing for "max",
// for the huge number that means "none" in version 1, and for anything that is not a number.
std::optional<uint64_t> cgroup_limit(std::string_view text);

// Returns the counter `name` from the text of a memory.stat file, or 0 if it is missing.
uint64_t cgroup_counter(std::string_view memory_stat, std::string_view name);

// Holds the paths of the memory control groups in versions 2 and 1. A path is "" for the root and if there is no group.
struct CgroupPaths {
  std::string v2, v1;
};
CgroupPaths cgroup_paths(std::string_view proc_self_cgroup);

// Returns the number of bytes that this process can still allocate: MemAvailable, or less if one of its control groups
// allows less. Reclaimable page cache counts as free. Returns 0 if nothing is readable. Prepends `root` to /proc and
// /sys.
uint64_t host_available_bytes(const std::string& root = "");

}  // namespace mokume::base
