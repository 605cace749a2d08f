// Drives a device in a child process of its own, so that a driver that crashes or hangs costs the child and not the
// run. This process never opens the device's driver.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/child.hpp"
#include "base/log.hpp"
#include "base/program.hpp"
#include "cluster/protocol/messages.hpp"
#include "node/device_session.hpp"
#include "node/experiment.hpp"

namespace mokume::node {

// If the child is gone, functions throw Error(MK_DEVICE_ERROR) that states how it ended. The next attempt starts
// another child, until kMostCrashes in a row have failed to open the device. The child's output goes to the log.
class ChildSession : public DeviceSession {
 public:
  static constexpr uint32_t kMostCrashes = 3;
  // A slow child is not lost, because it takes long to read data, build kernels and measure their variants. A driver
  // that spins looks like a slow compiler and gets the same time; meanwhile, the log mentions the wait.
  static constexpr std::chrono::milliseconds kMostSilence = std::chrono::minutes(30);
  // A child that should answer but hardly uses the processor for this long does none of this work: its driver hangs.
  static constexpr std::chrono::milliseconds kMostIdle = std::chrono::minutes(2);

  struct Setup {
    std::vector<uint32_t> cores = {};                   // cores of the child, or empty for those of this process
    bool measure = false;                               // true if the child measures the device's speed
    std::string program = base::program_to_start();     // path of mokume: this process's own program, except in tests
    std::chrono::milliseconds patience = kMostSilence;  // a child that takes longer to answer is lost
    std::chrono::milliseconds idle = kMostIdle;         // a child that hardly uses the processor for this long is lost
  };

  // Starts the child, which begins to load the experiment. open() waits for its device, and starts another child if
  // this one crashes or is killed meanwhile. References must outlive the session.
  ChildSession(const Experiment& experiment, base::Log& log, const device::Listed& listed, device::Choices choices,
               uint64_t budget_bytes, Setup setup);
  void open();

  cluster::LocalDevice info() const override { return info_; }
  device::Choices choices() const override { return choices_; }
  // If the child is lost meanwhile, another child replaces it before the first attempt.
  void begin(const device::Choices& choices, const std::string& run_directory, bool profile) override;
  void run(const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) override;
  std::map<std::string, uint64_t> fallbacks() const override;
  std::vector<device::ProfileRow> profiled() const override;
  bool kill() noexcept override;

 private:
  struct Listener;
  void start();
  void open_once();
  void send(const cluster::Message& message);
  void say_hello(const cluster::Message& request);
  void accept_hello(const cluster::Hello& hello);
  void revive();
  void forget_kill();
  cluster::Hello ask(const cluster::Message& request);
  void wait_for_answer();
  cluster::LeaseEnd listen(Listener& listener);
  [[noreturn]] void lost(const std::string& what);
  std::string end_child();

  const Experiment& experiment_;
  base::Log& log_;
  const Setup setup_;
  std::string title_;  // "opencl:0 (NVIDIA H200): "
  cluster::LocalDevice info_;
  device::Choices choices_;
  std::optional<cluster::Welcome> welcome_;  // set by begin()
  cluster::Account known_, earlier_;         // accounts of this child and of all earlier children
  uint64_t lease_ = 0;                       // number of the attempt, for the child only
  uint32_t crashes_ = 0;                     // crashes since the device was last opened

  mutable std::mutex child_mutex_;  // protects kill() against the start and the end of a child
  std::unique_ptr<base::Child> child_;
  bool killed_ = false;  // true if killed since the attempt began
};

}  // namespace mokume::node
