// Determines the cores on which a thread may run.
#pragma once

#include <sched.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mokume::sdk {

using GetAffinity = int (*)(pid_t, size_t, cpu_set_t*);

// Returns the cores on which the calling thread may run, in ascending order, or nothing if the system does not report
// them. The mask grows until the kernel accepts it, because a cpu_set_t holds only 1,024 cores.
inline std::vector<uint32_t> allowed_cores(GetAffinity get = &::sched_getaffinity) {
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  std::vector<uint32_t> cores;
  for (size_t capacity = 1024; capacity <= size_t{1} << 20; capacity *= 2) {
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(capacity));
    const size_t bytes = CPU_ALLOC_SIZE(capacity);
    if (!set || get(0, bytes, set.get()) != 0) continue;
    for (uint32_t core = 0; core < capacity; ++core)
      if (CPU_ISSET_S(core, bytes, set.get())) cores.push_back(core);
    break;
  }
  return cores;
}

// Formats ascending numbers as ranges: 0, 1, 2, 3, 8 becomes "0-3,8".
inline std::string core_ranges(const std::vector<uint32_t>& ascending) {
  std::string text;
  for (size_t from = 0; from < ascending.size();) {
    size_t to = from;
    while (to + 1 < ascending.size() && ascending[to + 1] == ascending[to] + 1) ++to;
    text += (text.empty() ? "" : ",") + std::to_string(ascending[from]);
    if (to > from) text += "-" + std::to_string(ascending[to]);
    from = to + 1;
  }
  return text;
}

// Returns an id of the processor from the cores that this process may use. All backends use the same id.
inline std::string cpu_id() { return "cpu:" + core_ranges(allowed_cores()); }

}  // namespace mokume::sdk
