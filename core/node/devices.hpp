// Holds the devices of this process in a run, each with a session of the model, on which the agent runs attempts.
//
// In this folder, one process uses its devices: it opens them, runs the model and refits on them, and restarts the
// child process of a device that crashed. Scheduling of attempts belongs to core/cluster, and results to core/run.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "device/energy.hpp"
#include "node/device_session.hpp"
#include "node/experiment.hpp"
#include "node/machine.hpp"
#include "node/profile_files.hpp"
#include "node/scratch.hpp"

namespace mokume::node {

// Returns the choices with which a run opens a device: those that `recorded` holds for its class, and those of the
// file.
device::Choices choices_of(const config::Config& config, const cluster::ClassChoices& recorded,
                           const device::Listed& listed);

class Devices : public cluster::Executor {
 public:
  // Opens the devices that the experiment selects, with the choices recorded for their classes, one after another, so
  // that no device disturbs another's measurements. Leaves out a device that cannot be opened, with a warning; throws
  // Error if none can be opened. `measure` makes each device measure its speed. References must outlive this object.
  Devices(const Machine& machine, const Experiment& experiment, base::Log& log, uint32_t sharers,
          const cluster::ClassChoices& recorded, bool measure);
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  std::vector<cluster::LocalDevice> devices() const override;
  cluster::ClassChoices choices() const;

  // Must be called before the first attempt (see DeviceSession::begin()). `profile` makes run() write a profile of each
  // device to the run directory.
  void begin(const cluster::ClassChoices& choices, const std::string& run_directory, uint32_t node, bool profile);

  void run(uint32_t device, const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) override;
  std::optional<double> energy_j(uint32_t device) override;
  bool kill(uint32_t device) noexcept override { return sessions_[device]->kill(); }
  void saved(uint32_t fit) noexcept override;
  void abandon() noexcept override { abandoned_ = true; }
  bool abandoned() const { return abandoned_; }

  // Returns, indexed by device, how often each op ran on the host because the device does not support it.
  std::vector<std::map<std::string, uint64_t>> fallbacks() const;

 private:
  using Open = std::function<std::unique_ptr<DeviceSession>(size_t)>;
  void open_all(const Machine& machine, const std::vector<device::Listed>& listed, const Open& open);
  void keep_profile(uint32_t device);

  base::Log& log_;
  std::vector<std::unique_ptr<DeviceSession>> sessions_;
  std::vector<bool> spare_;  // indexed by device
  // Indexed by device; null for a device without a counter.
  std::vector<std::unique_ptr<device::EnergyMeter>> energy_;
  std::unique_ptr<ProfileFile> profile_;  // null unless the run is profiled
  std::string run_directory_;             // "" before begin()
  std::atomic<bool> abandoned_{false};
};

}  // namespace mokume::node
