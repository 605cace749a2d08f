// The devices of this machine: every backend loaded, every device listed, chosen ones opened within their budgets.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "cluster/share.hpp"
#include "device/device.hpp"
#include "device/probe.hpp"
#include "registry/registry.hpp"

namespace mokume::node {

class Machine {
 public:
  // Loads every backend that is found; one that cannot be loaded or enumerated is logged and left out. The log outlives
  // it.
  Machine(registry::Registry& registry, base::Log& log);

  const std::vector<device::Listed>& listed() const { return listed_; }
  // See device::select; after take() only what this process has got.
  std::vector<device::Listed> select(const std::string& selection) const;

  // Returns what this process would use if it were alone on its host.
  cluster::HostView view(const std::string& selection) const;

  // From now on this process and the threads it starts run on the cores of `share`, and each device that computes on
  // cores is opened on its share of them. On the thread that opens the devices, before it or a loop starts threads.
  void take(const cluster::HostShare& share, const std::string& selection);

  // Threads for loops of the host: the cores of its CPU device, or of this process. At least 1.
  uint32_t loop_threads() const;

  // Budgets of devices used together: what this host can spare is shared by its CPU devices and by `ranks` processes.
  // memory_bytes: a budget for each device, or 0.
  static std::vector<uint64_t> budgets(const std::vector<device::Listed>& used, uint32_t ranks, uint64_t memory_bytes);

  std::unique_ptr<device::Device> open(const device::Listed& listed, const device::Choices& choices,
                                       uint64_t budget_bytes) const;

  // The speed of an open device: remembered, or else (or if `again`) measured now, one process of this host after the
  // other.
  device::Speed speed(device::Device& device, const std::string& cache_directory, bool again = false) const;
  // The same, remembered or measured; 0 with a warning if the device fails while it is measured: its first fits will
  // show whether it works.
  double speed_or_warn(device::Device& device, const std::string& cache_directory) const;
  // The cores that a device computes on; none if these are its own.
  std::vector<uint32_t> cores_of(const device::Listed& listed) const;
  size_t cores(const device::Listed& listed) const { return cores_of(listed).size(); }

 private:
  std::vector<uint32_t> cores_of_drivers(const std::string& backend) const;

  base::Log& log_;
  std::vector<device::Listed> listed_;
  std::optional<std::vector<std::string>> mine_;            // ids; none before take()
  std::map<std::string, std::vector<uint32_t>> core_plan_;  // by id, of devices that compute on cores
};

}  // namespace mokume::node
