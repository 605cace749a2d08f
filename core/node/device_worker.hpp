// One device of a run with the model's session: what turns a work item into finished fits.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/protocol/types.hpp"
#include "node/machine.hpp"
#include "node/prepared.hpp"
#include "node/scratch.hpp"

namespace mokume::node {

// Used by one thread at a time, but for kill(). All calls throw Error; what the device did is said with its name.
class DeviceWorker {
 public:
  virtual ~DeviceWorker() = default;

  virtual cluster::LocalDevice info() const = 0;
  virtual device::Choices choices() const = 0;  // everything results depend on, also what the model has recorded so far
  // Opens again what was opened with other choices than these.
  virtual void agree(const device::Choices& choices) = 0;
  // Measures how fast it is, or remembers; info() says it from then on.
  virtual void measure() = 0;
  // Before the first work: where fits keep what they need to go on after a kill, and whether every op is timed.
  virtual void begin(const std::string& run_directory, bool profile) = 0;

  // Fits, or a refit.
  virtual void work(const cluster::WorkItem& item, cluster::Reporter& reporter) = 0;

  virtual std::map<std::string, uint64_t> fallbacks() const = 0;  // per op name
  virtual std::vector<device::ProfileRow> profiled() const = 0;   // empty unless begin() asked for it
  // From any thread: whoever is in work() gets Error(MK_DEVICE_ERROR) soon, even if the driver never comes
  // back. False: this device is in this very process and cannot be stopped like that.
  virtual bool kill() noexcept = 0;
};

// Whether a device that was opened with `have` does as `wanted` says.
bool follows(const device::Choices& have, const device::Choices& wanted);

// "opencl:0 (NVIDIA H200): " in front of what a device did.
std::string device_title(const device::Listed& listed);

// A device that is driven by this process.
class OwnDevice : public DeviceWorker {
 public:
  // Opens it. `machine` and `prepared` outlive it.
  OwnDevice(const Machine& machine, const Prepared& prepared, const device::Listed& listed,
            const device::Choices& choices, uint64_t budget_bytes);
  ~OwnDevice() override;
  OwnDevice(const OwnDevice&) = delete;
  OwnDevice& operator=(const OwnDevice&) = delete;

  cluster::LocalDevice info() const override;
  device::Choices choices() const override { return device_->choices(); }
  void agree(const device::Choices& choices) override;
  void measure() override;
  void begin(const std::string& run_directory, bool profile) override;
  void work(const cluster::WorkItem& item, cluster::Reporter& reporter) override { lead(item, reporter, nullptr); }
  std::map<std::string, uint64_t> fallbacks() const override { return device_->fallbacks(); }
  std::vector<device::ProfileRow> profiled() const override;
  bool kill() noexcept override { return false; }

  // work() with a team that this device leads, and the part of another member, which keeps and reports nothing.
  void lead(const cluster::WorkItem& item, cluster::Reporter& reporter, const mk_team* team);
  void follow(const cluster::WorkItem& item, const mk_team* team);
  // For refit(): trains, and the caller owns the result.
  mk_fitted* train_on_all_rows(const cluster::WorkItem& item, const mk_fit_sink& sink);
  // Runs `call`, a call of the model; what of it has no phase of its own is in `phase`.
  void in_phase(const char* phase, const std::function<void()>& call);
  const mk_device_services* services() const { return device_->services(); }

 private:
  mk_session* session();
  void run(const mk_team* team, const std::function<void()>& call);
  void fit(const cluster::WorkItem& item, cluster::Reporter& reporter);
  std::string scratch_for(const cluster::WorkItem& item, uint32_t fit) const;

  const Machine& machine_;
  const Prepared& prepared_;
  device::Listed listed_;
  uint64_t budget_bytes_;
  double speed_ = 0;
  std::unique_ptr<device::Device> device_;
  mk_session* session_ = nullptr;
  std::string run_directory_;  // "" before begin()
};

}  // namespace mokume::node
