// Runs a model's session on one device of a run, which turns attempts at bundles into finished fits. This process
// (LocalSession) or a child process (ChildSession) drives the device.
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

// Only one thread at a time may use it, except for kill(). Functions throw Error, which names a device that fails.
class DeviceSession {
 public:
  virtual ~DeviceSession() = default;

  virtual cluster::LocalDevice info() const = 0;
  virtual device::Choices choices() const = 0;  // everything that affects results, including the model's choices so far

  // Must be called before the first attempt. Makes the device compute with these choices, and reopens it if necessary.
  // Unfinished fits store their recovery data in the run directory. `profile` makes the device time every op.
  virtual void begin(const device::Choices& choices, const std::string& run_directory, bool profile) = 0;

  // Runs fits or a refit, alone or, if `team` is not null, as a member of a team. Only the leader of a team reports.
  virtual void run(const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) = 0;

  virtual std::map<std::string, uint64_t> fallbacks() const = 0;  // number of fallbacks, by op name
  virtual std::vector<device::ProfileRow> profiled() const = 0;   // empty unless requested in begin()

  // May be called from any thread. Makes run() throw Error(MK_DEVICE_ERROR) soon, even if the driver never returns.
  // Returns false if this process drives the device and therefore cannot stop it by force.
  virtual bool kill() noexcept = 0;
};

// Returns whether a device opened with `have` computes as `wanted` requires.
bool follows(const device::Choices& have, const device::Choices& wanted);

// Returns a message prefix like "opencl:0 (NVIDIA H200): ".
std::string device_title(const device::Listed& listed);

}  // namespace mokume::node
