// devices and doctor: what this machine has.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cluster/transport.hpp"
#include "commands.hpp"
#include "device/budget.hpp"
#include "experiment/machine.hpp"

namespace mokume::app {
namespace {

const char* kind_name(int32_t kind) {
  switch (kind) {
    case MK_DEVICE_CPU:
      return "cpu";
    case MK_DEVICE_GPU:
      return "gpu";
    default:
      return "other";
  }
}

std::string remarks(const mk_device_info& info) {
  std::string text;
  if ((info.flags & MK_DEVICE_SOFTWARE) != 0) text += "  software emulation, slow";
  if ((info.flags & MK_DEVICE_INSTRUMENTED) != 0) text += "  for checking, slow";
  if ((info.flags & MK_DEVICE_TEMPLATE) != 0) text += "  computes nothing";
  return text;
}

void print_devices(const experiment::Machine& machine) {
  for (const device::Listed& d : machine.listed())
    std::printf("%-12s %-4s %-9s %s (%s)%s\n", d.id().c_str(), kind_name(d.info.kind),
                base::human_bytes(d.info.memory_bytes).c_str(), d.info.name, d.info.platform, remarks(d.info).c_str());
}

}  // namespace

int list_devices(Runtime& runtime, bool json) {
  const experiment::Machine machine(runtime.registry(), runtime.log());
  if (!json) {
    print_devices(machine);
    return machine.listed().empty() ? kDevice : kDone;
  }
  auto list = nlohmann::ordered_json::array();
  for (const device::Listed& d : machine.listed())
    list.push_back({{"id", d.id()},
                    {"backend", d.backend},
                    {"kind", kind_name(d.info.kind)},
                    {"name", d.info.name},
                    {"platform", d.info.platform},
                    {"vendor", d.info.vendor},
                    {"version", d.info.version},
                    {"driver", d.info.driver},
                    {"isa", d.info.isa},
                    {"physical_id", d.info.physical_id},
                    {"class", d.device_class()},
                    {"memory_bytes", d.info.memory_bytes},
                    {"max_buffer_bytes", d.info.max_buffer_bytes},
                    {"compute_units", d.info.compute_units},
                    {"fp64", (d.info.flags & MK_DEVICE_FP64) != 0},
                    {"software", (d.info.flags & MK_DEVICE_SOFTWARE) != 0}});
  std::printf("%s\n", list.dump(2).c_str());
  return kDone;
}

int doctor(Runtime& runtime) {
  runtime.log().set_level(MK_LOG_INFO);
  registry::Registry& registry = runtime.registry();
  std::printf("mokume %s\n\nlibraries are searched in\n", MOKUME_VERSION);
  for (const std::string& directory : registry.directories()) std::printf("  %s\n", directory.c_str());
  const experiment::Machine machine(registry, runtime.log());
  for (const std::string& name : registry.available(MK_PLUGIN_MODEL)) registry.try_load(MK_PLUGIN_MODEL, name);
  const auto transports = registry.available(MK_PLUGIN_TRANSPORT);
  std::printf("\nlibraries\n");
  bool wrong = false;
  for (const registry::LoadEntry& e : registry.report()) {
    wrong = wrong || !e.loaded;
    std::printf("  %-9s %-8s %s  %s%s\n", e.kind.c_str(), e.name.c_str(), e.loaded ? "ok     " : "REFUSED",
                e.loaded ? e.path.c_str() : (e.text + " [" + e.stage + "]").c_str(), "");
  }
  for (const std::string& name : transports)
    std::printf("  transport %-8s found    loaded only when an MPI launcher started the program\n", name.c_str());
  std::printf("\ndevices\n");
  print_devices(machine);
  if (machine.listed().empty()) {
    wrong = true;
    std::printf("  none: install an OpenCL driver (Debian: pocl-opencl-icd) or the host backend\n");
  }
  std::printf("\nmemory that CPU devices may take: %s\ncores: %u\ncache: %s\nMPI launcher: %s\n",
              base::human_bytes(device::host_available_bytes()).c_str(), scheduler::allowed_cores(),
              base::cache_directory().empty() ? "none: nothing is cached" : base::cache_directory().c_str(),
              cluster::mpi_launched() ? "yes" : "no");
  return wrong ? kDevice : kDone;
}

}  // namespace mokume::app
