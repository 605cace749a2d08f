// A model's session on one device of a run, which turns attempts at bundles into finished fits. The device is driven by
// this process (LocalSession) or by a child process (ChildSession).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "abi/model.h"
#include "cluster/agent/executor.hpp"
#include "device/device.hpp"
#include "device/profile.hpp"

namespace mokume::node {

// Used by one thread at a time, except kill(). Every function throws Error; messages about a failed device include its
// name.
class DeviceSession {
 public:
  virtual ~DeviceSession() = default;

  virtual cluster::LocalDevice info() const = 0;
  virtual device::Choices choices() const = 0;  // all that results depend on, including the model's choices so far

  // Called before the first attempt. From now on the device computes with these choices; it is reopened if necessary.
  // Unfinished fits keep what they need to resume after a crash in the run directory. `profile`: time every op.
  virtual void begin(const device::Choices& choices, const std::string& run_directory, bool profile) = 0;

  // Runs fits or a refit, alone or (`team` not null) as a member of a team. Only the leader of a team reports.
  virtual void run(const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) = 0;

  virtual std::map<std::string, uint64_t> fallbacks() const = 0;  // per op name
  virtual std::vector<device::ProfileRow> profiled() const = 0;   // empty unless requested in begin()

  // Callable from any thread. run() soon throws Error(MK_DEVICE_ERROR), even if the driver never returns. Returns false
  // if the device is in this process and therefore cannot be stopped by force.
  virtual bool kill() noexcept = 0;
};

// Returns whether a device that was opened with `have` computes as `wanted` requires.
bool follows(const device::Choices& have, const device::Choices& wanted);

// "opencl:0 (NVIDIA H200): ", a prefix for messages about a device.
std::string device_title(const device::Listed& listed);

}  // namespace mokume::node
