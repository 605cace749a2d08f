// The local devices of a run, each with the model's session: what turns a work item into finished fits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "cluster/types.hpp"
#include "experiment/machine.hpp"
#include "experiment/prepared.hpp"
#include "experiment/profile_files.hpp"
#include "experiment/scratch.hpp"

namespace mokume::experiment {

class Worker {
 public:
  // Opens the devices with the choices recorded for their classes.
  Worker(const Machine& machine, const Prepared& prepared, const std::string& selection, uint32_t ranks,
         const cluster::ClassChoices& recorded);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  std::vector<cluster::LocalDevice> devices() const;
  cluster::ClassChoices choices() const;
  const std::vector<std::unique_ptr<device::Device>>& open_devices() const { return devices_; }
  // Opens again what was opened with other choices than these.
  void agree(const cluster::ClassChoices& choices);

  // Where fits keep what they need to go on after a kill; before the first of them.
  void use_scratch(const Scratch& scratch) { scratch_ = scratch; }

  // Times every op from now on, and keeps what each device took in the run directory.
  void profile(const std::string& run_directory, uint32_t node);

  // Runs one item on one device, on that device's thread.
  void work(uint32_t device, const cluster::WorkItem& item, cluster::Reporter& reporter);

  // Trains a candidate on all training rows on the first device; the caller owns the result.
  mk_fitted* refit(uint32_t candidate, const mk_fit_sink& sink);
  // Runs `call`, a call of the model that a profile counts, also where it fails; what of it has no phase of its own is
  // in `phase`.
  void on_device(uint32_t device, const char* phase, const std::function<void()>& call);
  const mk_device_services* services(uint32_t device) const { return devices_[device]->services(); }

 private:
  mk_session* session(uint32_t device);

  const Machine& machine_;
  std::optional<Scratch> scratch_;
  const Prepared& prepared_;
  std::vector<device::Listed> listed_;
  std::vector<uint64_t> budgets_;
  std::vector<std::unique_ptr<device::Device>> devices_;
  std::vector<mk_session*> sessions_;
  std::unique_ptr<ProfileFile> profile_;  // none unless the run is profiled
};

}  // namespace mokume::experiment
