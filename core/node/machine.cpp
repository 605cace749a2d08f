#include "node/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory.hpp"
#include "cluster/directory.hpp"
#include "device/budget.hpp"
#include "device/core_plan.hpp"
#include "device/select.hpp"
#include "registry/devices_of.hpp"
#include "scheduler/cores.hpp"
#include "sdk/error.hpp"

namespace mokume::node {

Machine::Machine(registry::Registry& registry, base::Log& log, const std::string& selection) : log_(log) {
  for (const std::string& name : device::backends_of(selection, registry.available(MK_PLUGIN_BACKEND)))
    list(registry, name);
}

void Machine::list(registry::Registry& registry, const std::string& name) {
  const registry::Library* library = registry.try_load(MK_PLUGIN_BACKEND, name);
  std::string reason;
  for (const registry::LoadEntry& entry : registry.report()) {
    if (entry.kind != "backend" || entry.name != name) continue;
    if (!entry.warning.empty()) log_.info(name, entry.warning);
    if (!entry.loaded) reason = entry.path + ": " + entry.text;
    if (!entry.loaded) log_.warn("registry", fmt::format("the backend '{}' is left out: {}", name, reason));
  }
  if (library == nullptr) {
    left_out_[name] = reason;
    return;
  }
  try {
    const std::vector<mk_device_info> infos = registry::devices_of(*library->backend());
    for (uint32_t i = 0; i < infos.size(); ++i) listed_.push_back({name, i, library->backend(), infos[i]});
  } catch (const Error& e) {
    left_out_[name] = library->path + ": " + e.what();
    log_.warn("registry", fmt::format("the backend '{}' is left out: {}", name, left_out_[name]));
    log_.place("registry", e);
  }
}

// Backends that were left out with a warning may be named, but some device must match.
std::vector<device::Listed> Machine::select(const std::string& selection) const {
  std::vector<std::string> names;
  for (const auto& [name, reason] : left_out_) names.push_back(name);
  const std::string rest = device::without_backends(selection, names);
  if (rest.empty() && !names.empty()) {
    const std::vector<std::string> named = device::backends_of(selection, names);
    throw Error(MK_DEVICE_ERROR, fmt::format("the devices '{}' cannot be used: {}", selection,
                                             left_out_.at(named.empty() ? names.front() : named.front())));
  }
  std::vector<device::Listed> chosen = device::select(listed_, rest);
  if (mine_)
    std::erase_if(chosen, [&](const device::Listed& d) {
      return std::find(mine_->begin(), mine_->end(), d.id()) == mine_->end();
    });
  return chosen;
}

Machine::~Machine() {
  if (!all_cores_.empty()) scheduler::run_on(all_cores_);
}

cluster::HostView Machine::view(const std::string& selection) const {
  cluster::HostView view{cluster::host_identity(), scheduler::allowed_core_list(), {}};
  for (const device::Listed& d : select(selection))
    view.devices.push_back({d.id(), d.info.physical_id, device::on_cores(d.info)});
  return view;
}

void Machine::take(const cluster::HostShare& share, const std::string& selection) {
  mine_ = share.devices;
  all_cores_ = scheduler::allowed_core_list();
  scheduler::run_on(share.cores);
  const std::vector<device::Listed> used = select(selection);
  const auto plan = device::core_plan(used, share.cores);
  for (size_t d = 0; d < used.size(); ++d)
    if (!plan[d].empty()) core_plan_[used[d].id()] = plan[d];
}

std::vector<uint32_t> Machine::cores_of(const device::Listed& listed) const {
  const auto planned = core_plan_.find(listed.id());
  if (planned != core_plan_.end()) return planned->second;
  return device::on_cores(listed.info) ? scheduler::allowed_core_list() : std::vector<uint32_t>();
}

// A backend's drivers start the threads of all their devices when the first device is opened, and new threads inherit
// the cores of the thread that starts them.
std::vector<uint32_t> Machine::cores_of_drivers(const std::string& backend) const {
  std::vector<uint32_t> cores;
  for (const auto& [id, planned] : core_plan_)
    if (id.substr(0, id.find(':')) == backend) cores.insert(cores.end(), planned.begin(), planned.end());
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

uint32_t Machine::loop_threads() const {
  const auto host = core_plan_.find("host:0");
  const size_t cores = host != core_plan_.end() ? host->second.size() : scheduler::allowed_core_list().size();
  return static_cast<uint32_t>(std::max<size_t>(1, cores));
}

std::vector<uint64_t> Machine::budgets(const std::vector<device::Listed>& used, uint32_t ranks, uint64_t memory_bytes) {
  const auto sharers = static_cast<uint32_t>(
      std::count_if(used.begin(), used.end(), [](const device::Listed& d) { return device::in_host_memory(d.info); }));
  const uint64_t available = base::host_available_bytes();
  std::vector<uint64_t> budgets;
  for (const device::Listed& d : used)
    budgets.push_back(memory_bytes != 0
                          ? memory_bytes
                          : device::budget_bytes(d.info, available, std::max(1U, sharers) * std::max(1U, ranks)));
  return budgets;
}

std::unique_ptr<device::Device> Machine::open(const device::Listed& listed, const device::Choices& choices,
                                              uint64_t budget_bytes) const {
  std::shared_ptr<device::Device> fallback;
  device::Choices of_fallback;
  if (const auto numerics = choices.find("numerics"); numerics != choices.end()) of_fallback.insert(*numerics);
  if (listed.backend != "host") {
    const auto host = std::find_if(listed_.begin(), listed_.end(),
                                   [](const device::Listed& d) { return d.backend == "host" && d.index == 0; });
    if (host != listed_.end()) fallback = device::Device::open(*host, of_fallback, budget_bytes, nullptr);
  }
  const scheduler::OnCores here(cores_of_drivers(listed.backend));
  return device::Device::open(listed, choices, budget_bytes, std::move(fallback));
}

device::Speed Machine::speed(device::Device& device, const std::string& cache_directory, bool again) const {
  constexpr double kTurnSeconds = 60;
  const device::Listed& listed = device.listed();
  if ((listed.info.flags & (MK_DEVICE_INSTRUMENTED | MK_DEVICE_TEMPLATE)) != 0) return {};
  const size_t n = cores(listed);
  const auto remembered = [&]() -> std::optional<device::Speed> {
    if (again) return std::nullopt;
    std::string warning;
    const auto known = device::remembered_speed(cache_directory, listed, n, warning);
    if (!warning.empty()) log_.warn(listed.id(), warning);
    return known;
  };
  if (const auto known = remembered()) return *known;
  const device::ProbeTurn turn(cache_directory, cluster::host_identity(), kTurnSeconds);
  // The process that measured before may have measured the same device.
  if (const auto known = remembered()) return *known;
  if (!turn.taken()) return {};
  const device::Speed speed = device::probe(device);
  device::remember_speed(cache_directory, listed, n, speed);
  return speed;
}

double Machine::speed_or_warn(device::Device& device, const std::string& cache_directory) const {
  try {
    return speed(device, cache_directory).overall();
  } catch (const Error& e) {
    if (e.status() != MK_DEVICE_ERROR && e.status() != MK_OUT_OF_MEMORY) throw;
    log_.warn(device.listed().id(), std::string("its speed could not be measured: ") + e.what());
    log_.place(device.listed().id(), e);
    return 0;
  }
}

}  // namespace mokume::node
