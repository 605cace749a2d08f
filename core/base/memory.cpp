#include "base/memory.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "sdk/error.hpp"

namespace mokume::base {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  return code == std::errc{} && at == end ? std::optional(value) : std::nullopt;
}

// Returns "" if the file is missing or unreadable, because some kernels and containers lack some of the files.
std::string read_if_there(const std::string& path) {
  try {
    return read_file(path, uint64_t{1} << 20);
  } catch (const Error&) {
    return "";
  }
}

// Names the files of one version of control groups.
struct Layout {
  std::vector<const char*> limits;
  const char* usage;
  const char* reclaimable;  // name of a counter in memory.stat
};

// Returns how many bytes the group at `directory` may still use. Its reclaimable page cache does not count as used.
uint64_t left_in_group(const std::string& directory, const Layout& layout) {
  uint64_t limit = kUnlimited;
  for (const char* name : layout.limits)
    limit = std::min(limit, cgroup_limit(read_if_there(directory + "/" + name)).value_or(kUnlimited));
  if (limit == kUnlimited) return kUnlimited;
  const uint64_t usage = cgroup_limit(read_if_there(directory + "/" + layout.usage)).value_or(0);
  const uint64_t cache = cgroup_counter(read_if_there(directory + "/memory.stat"), layout.reclaimable);
  const uint64_t held = usage - std::min(usage, cache);
  return limit - std::min(limit, held);
}

// Returns the minimum over `group` and its ancestors. In a container, the path may not exist below the mount; the root
// of the mount is then the container's own group.
uint64_t left_in_hierarchy(const std::string& mount, std::string group, const Layout& layout) {
  uint64_t least = kUnlimited;
  for (;;) {
    least = std::min(least, left_in_group(mount + group, layout));
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

}  // namespace

std::optional<uint64_t> meminfo_available(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  for (const std::string& line : split(meminfo, '\n')) {
    if (line.compare(0, kKey.size(), kKey) != 0) continue;
    std::string value = trim(std::string_view(line).substr(kKey.size()));
    if (value.size() < 3 || value.compare(value.size() - 3, 3, " kB") != 0) return std::nullopt;
    value.resize(value.size() - 3);
    const std::optional<uint64_t> kib = whole_number(trim(value));
    return kib && *kib <= kUnlimited / 1024 ? std::optional(*kib * 1024) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<uint64_t> cgroup_limit(std::string_view text) {
  // Version 1 reports "no limit" as the largest multiple of the page size below 2^63.
  constexpr uint64_t kNone = uint64_t{1} << 62;
  const std::optional<uint64_t> value = whole_number(trim(text));
  return value && *value < kNone ? value : std::nullopt;
}

uint64_t cgroup_counter(std::string_view memory_stat, std::string_view name) {
  for (const std::string& line : split(memory_stat, '\n')) {
    const size_t space = line.find(' ');
    if (space != std::string::npos && std::string_view(line).substr(0, space) == name)
      return whole_number(trim(std::string_view(line).substr(space))).value_or(0);
  }
  return 0;
}

CgroupPaths cgroup_paths(std::string_view proc_self_cgroup) {
  // Lines have the form "number:controllers:path"; version 2 uses "0::path". See cgroups(7).
  CgroupPaths paths;
  for (const std::string& line : split(proc_self_cgroup, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (path.find("..") != std::string::npos) continue;  // the group is outside this namespace
    if (line.compare(0, second, "0:") == 0) paths.v2 = path;
    const std::vector<std::string> controllers = split(line.substr(first + 1, second - first - 1), ',');
    if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) paths.v1 = path;
  }
  return paths;
}

uint64_t host_available_bytes(const std::string& root) {
  const CgroupPaths paths = cgroup_paths(read_if_there(root + "/proc/self/cgroup"));
  const std::string mount = root + "/sys/fs/cgroup";
  const Layout v2{{"memory.max", "memory.high"}, "memory.current", "inactive_file"};
  const Layout v1{{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"};
  const uint64_t least =
      std::min({meminfo_available(read_if_there(root + "/proc/meminfo")).value_or(kUnlimited),
                left_in_hierarchy(mount, paths.v2, v2), left_in_hierarchy(mount + "/memory", paths.v1, v1)});
  return least == kUnlimited ? 0 : least;
}

}  // namespace mokume::base
