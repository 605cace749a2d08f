// The devices of this machine: every backend loaded, every device listed, chosen ones opened within their budgets.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "device/device.hpp"
#include "registry/registry.hpp"

namespace mokume::experiment {

class Machine {
 public:
  // Loads every backend that is found; one that cannot be loaded or enumerated is logged and left out.
  Machine(registry::Registry& registry, base::Log& log);

  const std::vector<device::Listed>& listed() const { return listed_; }
  // See device::select.
  std::vector<device::Listed> select(const std::string& selection) const { return device::select(listed_, selection); }

  // Budgets of devices used together: what this host can spare is shared by its CPU devices and by `ranks` processes.
  // memory_bytes: a budget for each device, or 0.
  static std::vector<uint64_t> budgets(const std::vector<device::Listed>& used, uint32_t ranks, uint64_t memory_bytes);

  std::unique_ptr<device::Device> open(const device::Listed& listed, const device::Choices& choices,
                                       uint64_t budget_bytes) const;

 private:
  std::vector<device::Listed> listed_;
};

}  // namespace mokume::experiment
