#include "device_info.hpp"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <fstream>
#include <iterator>

#include "cpu_name.hpp"
#include "isa/isa.hpp"
#include "onednn.hpp"
#include "sdk/cores.hpp"
#include "sdk/plugin.hpp"

namespace mokume::host {
namespace {

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

mk_device_info device_info(uint32_t index) {
  const bool oracle = index == kOracleDevice;
  mk_device_info info{};
  info.struct_size = sizeof info;
  info.kind = MK_DEVICE_CPU;
  // The oracle is for tests: this flag keeps it out of "all" and "every".
  info.flags = MK_DEVICE_FP64 | MK_DEVICE_FMA | (oracle ? uint64_t{MK_DEVICE_INSTRUMENTED} : 0);
  info.memory_bytes = info.max_buffer_bytes = memory_bytes();
  info.compute_units = static_cast<uint32_t>(sdk::allowed_cores().size());
  sdk::set_text(info.name, oracle ? "reference oracle" : name_of_cpu());
  sdk::set_text(info.platform, "host");
  sdk::set_text(info.vendor, cpuinfo_value(cpuinfo(), "vendor_id"));
  sdk::set_text(info.version, MOKUME_VERSION);
  sdk::set_text(info.driver, oracle ? "plain C++" : onednn_version());
  sdk::set_text(info.physical_id, sdk::cpu_id());
  sdk::set_text(info.isa, oracle ? "" : best_loops(false).isa);
  return info;
}

}  // namespace mokume::host
