// The local devices of a run, each with the model's session: what turns a work item into finished fits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "cluster/types.hpp"
#include "experiment/machine.hpp"
#include "experiment/prepared.hpp"
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

  // Runs one item on one device, on that device's thread.
  void work(uint32_t device, const cluster::WorkItem& item, cluster::Reporter& reporter);

  // Trains a candidate on all training rows on the first device; the caller owns the result.
  mk_fitted* refit(uint32_t candidate, const mk_fit_sink& sink);
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
};

}  // namespace mokume::experiment
