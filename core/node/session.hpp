// A model's session on one device of a run: what turns attempts at bundles into finished fits. The device is driven by
// this process (LocalSession), or by a child process of its own (ChildSession).
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

// Used by one thread at a time, but for kill(). Every function throws Error; a failure of the device comes with its
// name.
class Session {
 public:
  virtual ~Session() = default;

  virtual cluster::LocalDevice info() const = 0;
  virtual device::Choices choices() const = 0;  // everything results depend on, also what the model has recorded so far

  // Before the first attempt: from now on the device computes with these choices, for which it is opened anew if need
  // be. Unfinished fits keep in the run directory what they need to resume after a crash. `profile`: every op is timed.
  virtual void begin(const device::Choices& choices, const std::string& run_directory, bool profile) = 0;

  // Fits, or a refit, alone or (`team` not null) as a member of a team. A member that does not lead reports nothing.
  virtual void run(const cluster::Attempt& attempt, cluster::Reporter& reporter, const mk_team* team) = 0;

  virtual std::map<std::string, uint64_t> fallbacks() const = 0;  // per op name
  virtual std::vector<device::ProfileRow> profiled() const = 0;   // empty unless begin() asked for it

  // From any thread: run() throws Error(MK_DEVICE_ERROR) soon, even if the driver never comes back. False: the device
  // is in this very process and cannot be stopped like that.
  virtual bool kill() noexcept = 0;
};

// Whether a device that was opened with `have` computes as `wanted` says.
bool follows(const device::Choices& have, const device::Choices& wanted);

// "opencl:0 (NVIDIA H200): ", before what a device did.
std::string device_title(const device::Listed& listed);

}  // namespace mokume::node
