#include "experiment/machine.hpp"

#include <algorithm>

#include "device/budget.hpp"
#include "sdk/error.hpp"

namespace mokume::experiment {

Machine::Machine(registry::Registry& registry, base::Log& log) {
  for (const std::string& name : registry.available(MK_PLUGIN_BACKEND)) {
    const registry::Library* library = registry.try_load(MK_PLUGIN_BACKEND, name);
    if (library == nullptr) {
      for (const registry::LoadEntry& entry : registry.report())
        if (entry.kind == "backend" && entry.name == name && !entry.loaded) log.warn("registry", entry.text);
      continue;
    }
    const mk_backend* backend = library->backend();
    try {
      uint32_t count = 0;
      sdk::call(backend->enumerate, backend->self, static_cast<mk_device_info*>(nullptr), 0U, &count);
      std::vector<mk_device_info> infos(count);
      for (mk_device_info& info : infos) info.struct_size = sizeof(mk_device_info);
      if (count > 0) sdk::call(backend->enumerate, backend->self, infos.data(), count, &count);
      for (uint32_t i = 0; i < std::min<size_t>(count, infos.size()); ++i)
        listed_.push_back({name, i, backend, infos[i]});
    } catch (const Error& e) {
      log.warn(name, e.what());
    }
  }
}

std::vector<uint64_t> Machine::budgets(const std::vector<device::Listed>& used, uint32_t ranks, uint64_t memory_bytes) {
  const auto on_host_memory = [](const device::Listed& d) {
    return d.info.kind == MK_DEVICE_CPU || (d.info.flags & MK_DEVICE_SOFTWARE) != 0;
  };
  const auto cpus = static_cast<uint32_t>(std::count_if(used.begin(), used.end(), on_host_memory));
  const uint64_t available = device::host_available_bytes();
  std::vector<uint64_t> budgets;
  for (const device::Listed& d : used)
    budgets.push_back(memory_bytes != 0
                          ? memory_bytes
                          : device::budget_bytes(d.info, available, std::max(1U, cpus) * std::max(1U, ranks)));
  return budgets;
}

std::unique_ptr<device::Device> Machine::open(const device::Listed& listed, const device::Choices& choices,
                                              uint64_t budget_bytes) const {
  std::shared_ptr<device::Device> fallback;
  if (listed.backend != "host") {
    const auto host = std::find_if(listed_.begin(), listed_.end(),
                                   [](const device::Listed& d) { return d.backend == "host" && d.index == 0; });
    if (host != listed_.end()) fallback = device::Device::open(*host, {}, budget_bytes, nullptr);
  }
  return device::Device::open(listed, choices, budget_bytes, std::move(fallback));
}

}  // namespace mokume::experiment
