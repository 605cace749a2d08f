// The local devices of a run: each in this process, or in a child process of its own ([devices] isolation).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "node/device_worker.hpp"
#include "node/profile_files.hpp"

namespace mokume::node {

class Worker {
 public:
  // Opens the devices with the choices recorded for their classes, one after the other: what a device measures of
  // itself then, it measures alone. One that cannot be opened is left out, with a warning, while there are others;
  // Error where there are none. The references outlive it.
  Worker(const Machine& machine, const Prepared& prepared, base::Log& log, const std::string& selection, uint32_t ranks,
         const cluster::ClassChoices& recorded);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  std::vector<cluster::LocalDevice> devices() const;
  cluster::ClassChoices choices() const;
  // Opens again what was opened with other choices than these.
  void agree(const cluster::ClassChoices& choices);

  // How fast each device is, one after the other; devices() says it from then on.
  void measure();

  // Before the first work. `profile`: times every op from now on, and keeps what each device took in the run directory.
  void begin(const std::string& run_directory, uint32_t node, bool profile);

  // Runs one item on one device, on that device's thread.
  void work(uint32_t device, const cluster::WorkItem& item, cluster::Reporter& reporter);

  // The same in a team: see OwnDevice. Not where devices are in children.
  void lead(uint32_t device, const cluster::WorkItem& item, cluster::Reporter& reporter, const mk_team* team);
  void follow(uint32_t device, const cluster::WorkItem& item, const mk_team* team);

  // From any thread: ends the work of a device that does not come back. False: that is not possible in this process.
  bool kill(uint32_t device) noexcept { return workers_[device]->kill(); }

  // By device: how often an op ran on the host because the device does not support it.
  std::vector<std::map<std::string, uint64_t>> fallbacks() const;

 private:
  OwnDevice& own(uint32_t device) const;
  void keep_profile(uint32_t device);
  void profiled(uint32_t device, const std::function<void()>& call);

  base::Log& log_;
  std::vector<std::unique_ptr<DeviceWorker>> workers_;
  std::vector<bool> spare_;               // by device
  std::unique_ptr<ProfileFile> profile_;  // none unless the run is profiled
};

}  // namespace mokume::node
