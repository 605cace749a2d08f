// Runs a session on a device that this process drives.
#pragma once

#include <memory>
#include <string>

#include "node/device_session.hpp"
#include "node/experiment.hpp"
#include "node/machine.hpp"

namespace mokume::node {

class LocalSession : public DeviceSession {
 public:
  // Opens the device, and measures or recalls its speed if `measure` is set. References must outlive the session.
  LocalSession(const Machine& machine, const Experiment& experiment, const device::Listed& listed,
               const device::Choices& choices, uint64_t budget_bytes, bool measure);
  ~LocalSession() override;
  LocalSession(const LocalSession&) = delete;
  LocalSession& operator=(const LocalSession&) = delete;

  cluster::LocalDevice info() const override;
  device::Choices choices() const override { return device_->choices(); }
  void begin(const device::Choices& choices, const std::string& run_directory, bool profile) override;
  // Traces all attempts. Must be called after begin(), and before the first attempt. `trace` must outlive the session.
  void trace(device::Trace& trace) { device_->trace(trace); }
  void run(const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) override;
  std::map<std::string, uint64_t> fallbacks() const override { return device_->fallbacks(); }
  std::vector<device::ProfileRow> profiled() const override;
  bool kill() noexcept override { return false; }

 private:
  void end_session();

  const Machine& machine_;
  const Experiment& experiment_;
  device::Listed listed_;
  uint64_t budget_bytes_;
  double speed_ = 0;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<FoldExperiment> fold_experiment_;  // inputs of the session; null for group 0
  uint32_t group_ = 0;                               // group of the session
  mk_session* session_ = nullptr;
  std::string run_directory_;  // "" before begin()
};

}  // namespace mokume::node
