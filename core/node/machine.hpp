// Loads the backends of this machine, lists their devices, and opens selected devices within their budgets.
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
  // Loads the backends that `selection` can name (device::backends_of), or all if it is "". Leaves out a backend that
  // cannot be loaded or cannot list its devices, with a warning. The log must outlive this object.
  Machine(registry::Registry& registry, base::Log& log, const std::string& selection = "");
  ~Machine();  // gives the calling thread back the cores that take() took from it
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const std::vector<device::Listed>& listed() const { return listed_; }
  // Selects like device::select(), but after take() only among the devices assigned to this process. Ignores a word
  // that names a backend that was left out, or throws Error(MK_DEVICE_ERROR) with the reason if there is no other word.
  std::vector<device::Listed> select(const std::string& selection) const;

  // Returns what this process would use if it were alone on its host.
  cluster::HostView view(const std::string& selection) const;

  // Restricts this thread and its new threads to the cores of `share`, and each device that computes on cores to its
  // part of them. Must be called on the thread that opens the devices, before it starts any thread.
  void take(const cluster::HostShare& share, const std::string& selection);

  // Returns the number of threads for host loops: the cores of the CPU device, or of this process. At least 1.
  uint32_t loop_threads() const;

  // Returns the memory budgets of devices that are used at the same time. Devices in host memory and `ranks` processes
  // share the host's available memory. `memory_bytes` is the budget of each device, or 0 to derive it.
  static std::vector<uint64_t> budgets(const std::vector<device::Listed>& used, uint32_t ranks, uint64_t memory_bytes);

  std::unique_ptr<device::Device> open(const device::Listed& listed, const device::Choices& choices,
                                       uint64_t budget_bytes) const;

  // Returns the speed of an open device. Measures it if it is not in the cache directory or if `again` is set.
  // Processes of this host measure one after another.
  device::Speed speed(device::Device& device, const std::string& cache_directory, bool again = false) const;
  // Returns the overall speed, or 0 with a warning if the device fails during the measurement: its first fits will show
  // whether it works.
  double speed_or_warn(device::Device& device, const std::string& cache_directory) const;
  // Returns the host cores that a device computes on, or none if it has its own.
  std::vector<uint32_t> cores_of(const device::Listed& listed) const;
  size_t cores(const device::Listed& listed) const { return cores_of(listed).size(); }

 private:
  void list(registry::Registry& registry, const std::string& name);
  std::vector<uint32_t> cores_of_drivers(const std::string& backend) const;

  base::Log& log_;
  std::vector<device::Listed> listed_;
  std::map<std::string, std::string> left_out_;             // reasons by backend
  std::vector<uint32_t> all_cores_;                         // cores allowed before take()
  std::optional<std::vector<std::string>> mine_;            // ids of assigned devices; no value before take()
  std::map<std::string, std::vector<uint32_t>> core_plan_;  // cores by id, for devices that compute on cores
};

}  // namespace mokume::node
