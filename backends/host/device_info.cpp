#include "device_info.hpp"

#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <fstream>
#include <iterator>
#include <memory>

#include "cpu_name.hpp"
#include "isa/isa.hpp"
#include "onednn.hpp"
#include "sdk/plugin.hpp"

namespace mokume::host {
namespace {

// Returns the cores this process may use, sorted. The mask grows until the kernel accepts it.
std::vector<int> allowed_cores() {
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  std::vector<int> cores;
  for (size_t capacity = 1024; capacity <= size_t{1} << 20; capacity *= 2) {
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(capacity));
    const size_t bytes = CPU_ALLOC_SIZE(capacity);
    if (!set || sched_getaffinity(0, bytes, set.get()) != 0) continue;
    for (size_t core = 0; core < capacity; ++core)
      if (CPU_ISSET_S(core, bytes, set.get())) cores.push_back(static_cast<int>(core));
    break;
  }
  return cores;
}

std::string cpuinfo() {
  std::ifstream file("/proc/cpuinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string name_of_cpu() {
  const std::string name = cpu_name(cpuinfo());
  if (!name.empty()) return name;
  utsname system{};
  return uname(&system) == 0 ? std::string(system.machine) + " processor" : "processor";
}

uint64_t memory_bytes() {
  struct sysinfo info {};
  return sysinfo(&info) == 0 ? uint64_t{info.totalram} * info.mem_unit : 0;
}

}  // namespace

std::string compact_list(const std::vector<int>& sorted) {
  std::string list;
  for (size_t from = 0; from < sorted.size();) {
    size_t to = from;
    while (to + 1 < sorted.size() && sorted[to + 1] == sorted[to] + 1) ++to;
    if (!list.empty()) list += ',';
    list += std::to_string(sorted[from]);
    if (to > from) list += '-' + std::to_string(sorted[to]);
    from = to + 1;
  }
  return list;
}

mk_device_info device_info(uint32_t index) {
  const bool oracle = index == kOracleDevice;
  const std::vector<int> cores = allowed_cores();
  mk_device_info info{};
  info.struct_size = sizeof info;
  info.kind = MK_DEVICE_CPU;
  // The oracle is for tests: this flag keeps it out of "all" and "every".
  info.flags = MK_DEVICE_FP64 | MK_DEVICE_FMA | (oracle ? uint64_t{MK_DEVICE_INSTRUMENTED} : 0);
  info.memory_bytes = info.max_buffer_bytes = memory_bytes();
  info.compute_units = static_cast<uint32_t>(cores.size());
  sdk::set_text(info.name, oracle ? "reference oracle" : name_of_cpu());
  sdk::set_text(info.platform, "host");
  sdk::set_text(info.vendor, cpuinfo_value(cpuinfo(), "vendor_id"));
  sdk::set_text(info.version, MOKUME_VERSION);
  sdk::set_text(info.driver, oracle ? "plain C++" : onednn_version());
  sdk::set_text(info.physical_id, "cpu:" + compact_list(cores));
  sdk::set_text(info.isa, oracle ? "" : best_loops().isa);
  return info;
}

}  // namespace mokume::host
