// A device in a child process of its own, so that a driver that crashes or hangs costs that child and not the run. This
// process never opens the device's driver.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "base/child.hpp"
#include "base/log.hpp"
#include "node/device_messages.hpp"
#include "node/device_worker.hpp"

namespace mokume::node {

// A child that is gone is Error(MK_DEVICE_ERROR) that says how it ended; the next work starts another one, with the
// choices that this one had, until kMostCrashes in a row could not open the device. What the child prints goes to the
// log, line by line.
class DeviceProcess : public DeviceWorker {
 public:
  static constexpr uint32_t kMostCrashes = 3;
  // For data to be read, kernels to be built and their variants to be measured: slow, not lost.
  static constexpr std::chrono::milliseconds kMostSilence = std::chrono::minutes(30);

  // Starts the child, which begins to load the experiment; open() waits for its device. The references outlive it. The
  // child runs on `cores`; if there are none, where this process does. `program` is mokume: this very process, but for
  // tests. A child that has not opened its device within `patience` is as one that is gone.
  DeviceProcess(const Prepared& prepared, base::Log& log, const device::Listed& listed, device::Choices choices,
                uint64_t budget_bytes, std::vector<uint32_t> cores, std::string program = "/proc/self/exe",
                std::chrono::milliseconds patience = kMostSilence);
  void open();

  cluster::LocalDevice info() const override { return info_; }
  device::Choices choices() const override { return choices_; }
  // A child that is lost in one of these three is replaced before the first work.
  void agree(const device::Choices& choices) override;
  void measure() override;
  void begin(const std::string& run_directory, bool profile) override;
  void work(const cluster::WorkItem& item, cluster::Reporter& reporter) override;
  std::map<std::string, uint64_t> fallbacks() const override;
  std::vector<device::ProfileRow> profiled() const override;
  bool kill() noexcept override;

 private:
  struct Listener;
  void start();
  void send(const DeviceMessage& message);
  void greet(const DeviceMessage& request);
  void prepare(const DeviceMessage& request);
  void take_greeting(const cluster::Hello& hello);
  void revive();
  void forget_kill();
  void converse(const DeviceMessage& request, Listener& listener);
  cluster::Hello ask(const DeviceMessage& request);
  WorkEnded listen(Listener& listener);
  [[noreturn]] void lost(const std::string& what);
  std::string end_child();

  const Prepared& prepared_;
  base::Log& log_;
  std::string program_;
  std::chrono::milliseconds patience_;
  std::string title_;  // "opencl:0 (NVIDIA H200): "
  cluster::LocalDevice info_;
  device::Choices choices_;
  std::vector<uint32_t> cores_;
  std::optional<BeginRun> begin_;
  WorkEnded known_, earlier_;  // what this child has counted, and what those before it had
  uint32_t crashes_ = 0;       // since one has opened the device

  mutable std::mutex child_mutex_;  // kill() against the start and the end of a child
  std::unique_ptr<base::Child> child_;
  bool killed_ = false;  // since the work began
};

}  // namespace mokume::node
