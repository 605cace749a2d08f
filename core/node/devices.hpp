// The devices of this process in a run, each with a session of the model: what its agent runs attempts on.
//
// In this folder: what one process does with its devices. It opens them, runs the model on them, refits, and restarts
// the child process of a device that crashed. Which attempt runs where is decided elsewhere (core/cluster), as is what
// becomes of the results (core/run).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "node/experiment.hpp"
#include "node/machine.hpp"
#include "node/profile_files.hpp"
#include "node/scratch.hpp"
#include "node/session.hpp"

namespace mokume::node {

class Devices : public cluster::Executor {
 public:
  // Opens the devices that the experiment selects, with the choices recorded for their classes, one after the other:
  // what a device measures of itself then, it measures alone. One that cannot be opened is left out, with a warning,
  // while there are others; Error where there are none. `measure`: how fast each is. The references outlive it.
  Devices(const Machine& machine, const Experiment& experiment, base::Log& log, uint32_t sharers,
          const cluster::ClassChoices& recorded, bool measure);
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  std::vector<cluster::LocalDevice> devices() const override;
  cluster::ClassChoices choices() const;

  // Before the first attempt: see Session::begin(). `profile`: what each device took is kept in the run directory.
  void begin(const cluster::ClassChoices& choices, const std::string& run_directory, uint32_t node, bool profile);

  void run(uint32_t device, const cluster::Attempt& attempt, cluster::Reporter& reporter) override {
    run(device, attempt, reporter, nullptr);
  }
  void run(uint32_t device, const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team);
  bool kill(uint32_t device) noexcept override { return sessions_[device]->kill(); }
  void saved(uint32_t fit) noexcept override;
  void abandon() noexcept override { abandoned_ = true; }
  bool abandoned() const { return abandoned_; }

  // Counts, by device, how often an op ran on the host because the device does not support it.
  std::vector<std::map<std::string, uint64_t>> fallbacks() const;

 private:
  using Open = std::function<std::unique_ptr<Session>(size_t)>;
  void open_all(const std::vector<device::Listed>& listed, const Open& open);
  void keep_profile(uint32_t device);

  base::Log& log_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<bool> spare_;               // by device
  std::unique_ptr<ProfileFile> profile_;  // none unless the run is profiled
  std::string run_directory_;             // "" before begin()
  std::atomic<bool> abandoned_{false};
};

}  // namespace mokume::node
