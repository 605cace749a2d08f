// Implements the commands devices and doctor.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/memory.hpp"
#include "base/text.hpp"
#include "cluster/directory.hpp"
#include "cluster/handshake.hpp"
#include "cluster/transport/transport.hpp"
#include "commands.hpp"
#include "node/machine.hpp"
#include "scheduler/cores.hpp"
#include "sdk/error.hpp"
#include "version.hpp"

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
  if ((info.flags & MK_DEVICE_SHARED_MEMORY) != 0) text += "  in the host's memory";
  if ((info.flags & MK_DEVICE_FUSES) != 0) text += "  fuses products with sums: its last bits differ";
  if ((info.flags & MK_DEVICE_TEMPLATE) != 0) text += "  computes nothing";
  return text;
}

using Speeds = std::map<std::string, device::Speed>;

// Returns speeds by id, remembered or, if `probe` is true, newly measured. A device that cannot be opened has none.
Speeds speeds_of(const node::Machine& machine, bool probe, base::Log& log) {
  constexpr uint64_t kEnough = uint64_t{1} << 30;
  constexpr uint64_t kNotMeant = MK_DEVICE_TEMPLATE | MK_DEVICE_INSTRUMENTED;
  const std::string cache = base::cache_directory();
  Speeds speeds;
  for (const device::Listed& d : machine.listed()) {
    if ((d.info.flags & kNotMeant) != 0) continue;
    std::string warning;
    try {
      if (probe)
        speeds[d.id()] = machine.speed(*machine.open(d, {}, kEnough), cache, true);
      else if (const auto known = device::remembered_speed(cache, d, machine.cores(d), warning))
        speeds[d.id()] = *known;
      if (!warning.empty()) log.warn(d.id(), warning);
    } catch (const Error& e) {
      log.warn("devices", d.id() + ": " + e.what());
    }
  }
  return speeds;
}

std::string speed_text(const Speeds& speeds, const std::string& id) {
  const auto found = speeds.find(id);
  if (found == speeds.end()) return "";
  return fmt::format("  {:.3g} GFLOP/s, {:.3g} GB/s", found->second.gflops, found->second.gbytes);
}

void print_devices(const node::Machine& machine, const Speeds& speeds) {
  for (const device::Listed& d : machine.listed())
    say(stdout, "{:<12} {:<4} {:<9} {} ({}){}{}\n", d.id(), kind_name(d.info.kind),
        base::human_bytes(d.info.memory_bytes), std::string(d.info.name), std::string(d.info.platform), remarks(d.info),
        speed_text(speeds, d.id()));
}

// Returns what this process contributes to a run. A machine without devices still has cores.
cluster::HostView presence_of(const node::Machine& machine) {
  try {
    return machine.view("all");
  } catch (const Error&) {
    return {cluster::host_identity(), scheduler::allowed_core_list(), {}};
  }
}

// Returns the nearest existing directory at or above a path.
std::string existing(const std::string& path) {
  std::filesystem::path at = std::filesystem::absolute(path);
  std::error_code ignored;
  while (!std::filesystem::is_directory(at, ignored) && at.has_relative_path()) at = at.parent_path();
  return at.string();
}

bool print_nodes(const cluster::Meeting& meeting, const std::vector<cluster::Seen>& seen,
                 const std::string& directory) {
  say(stdout, "\nnodes, and their view of {}\n", directory);
  say(stdout, "  {:<5} {:<20} {:<12} {:<8} {:<10} {}\n", "node", "host", "cores", "seen", "type", "synced line");
  bool shared = true;
  for (size_t node = 0; node < seen.size(); ++node) {
    const cluster::Seen& one = seen[node];
    const std::string cores = scheduler::core_text(meeting.shares[node].cores);
    say(stdout, "  {:<5} {:<20} {:<12} {:<8} {:<10} {}\n", node, one.host, cores.empty() ? "?" : cores,
        one.seen ? "yes" : "NO", one.file_system,
        one.sync_s > 0 ? fmt::format("{:.2f} ms", 1e3 * one.sync_s) : "not possible");
    shared = shared && one.seen;
  }
  for (const std::string& notice : meeting.notices) say(stdout, "  warning: {}\n", notice);
  if (!shared)
    say(stdout,
        "  warning: the nodes marked NO would find no run directory there: choose one with --out on a file "
        "system that all nodes share\n");
  return shared;
}

// Every rank calls this function. Rank 0 prints the nodes, and returns whether all of them see the directory.
bool check_nodes(cluster::Transport& transport, const node::Machine& machine, const std::string& out) {
  const std::atomic<bool> never{false};
  bool well = true;
  cluster::participate(transport, [&] {
    const cluster::Meeting meeting = cluster::meet(transport, presence_of(machine), MOKUME_VERSION, never);
    const std::string directory = existing(out);
    const auto seen = cluster::look_at(transport, directory, never);
    if (transport.rank() == 0) well = print_nodes(meeting, seen, directory);
  });
  return well;
}

}  // namespace

int list_devices(Runtime& runtime, bool json, bool probe) {
  const node::Machine machine(runtime.registry(), runtime.log());
  const Speeds speeds = speeds_of(machine, probe, runtime.log());
  if (!json) {
    print_devices(machine, speeds);
    return machine.listed().empty() ? kDevice : kDone;
  }
  auto list = nlohmann::ordered_json::array();
  for (const device::Listed& d : machine.listed()) {
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
                    {"shared_memory", (d.info.flags & MK_DEVICE_SHARED_MEMORY) != 0},
                    {"fuses", (d.info.flags & MK_DEVICE_FUSES) != 0},
                    {"software", (d.info.flags & MK_DEVICE_SOFTWARE) != 0}});
    if (const auto speed = speeds.find(d.id()); speed != speeds.end()) {
      list.back()["gflops"] = speed->second.gflops;
      list.back()["gbytes_s"] = speed->second.gbytes;
    }
  }
  std::printf("%s\n", list.dump(2).c_str());
  return kDone;
}

int doctor(Runtime& runtime, const std::string& out) {
  registry::Registry& registry = runtime.registry();
  cluster::Transport& transport = runtime.transport();
  if (transport.rank() != 0) {
    const node::Machine machine(registry, runtime.log());
    check_nodes(transport, machine, out);
    return kDone;
  }
  runtime.log().set_level(MK_LOG_INFO);
  std::printf("mokume %s\n\nlibrary search path\n", kVersion);
  for (const std::string& directory : registry.directories()) say(stdout, "  {}\n", directory);
  const node::Machine machine(registry, runtime.log());
  for (const std::string& name : registry.available(MK_PLUGIN_MODEL)) registry.try_load(MK_PLUGIN_MODEL, name);
  std::printf("\nlibraries\n");
  bool wrong = false;
  for (const registry::LoadEntry& e : registry.report()) {
    wrong = wrong || !e.loaded;
    const std::string refusal = (e.path.empty() ? "" : e.path + ": ") + e.text + " [" + e.stage + "]";
    say(stdout, "  {:<9} {:<8} {}  {}{}\n", e.kind, e.name, e.loaded ? "ok     " : "REFUSED",
        e.loaded ? e.path : refusal, e.warning.empty() ? "" : "  warning: " + e.warning);
  }
  if (!cluster::mpi_launched())
    for (const std::string& name : registry.available(MK_PLUGIN_TRANSPORT))
      std::printf("  transport %-8s found    loaded only when an MPI launcher started the program\n", name.c_str());
  std::printf("\ndevices\n");
  print_devices(machine, speeds_of(machine, false, runtime.log()));
  if (machine.listed().empty()) {
    wrong = true;
    std::printf("  none: install an OpenCL driver (Debian: pocl-opencl-icd) or the host backend\n");
  }
  std::printf("\nmemory available to CPU devices: %s\ncores: %u\ncache: %s\nMPI launcher: %s\n",
              base::human_bytes(base::host_available_bytes()).c_str(), scheduler::allowed_cores(),
              base::cache_directory().empty() ? "none: nothing is cached" : base::cache_directory().c_str(),
              cluster::mpi_launched() ? "yes" : "no");
  std::fflush(stdout);
  const bool fit = check_nodes(transport, machine, out);
  return wrong ? kDevice : fit ? kDone : kData;
}

}  // namespace mokume::app
