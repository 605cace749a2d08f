// Defines the interfaces between an agent and its process: an executor runs the bundles that the coordinator leases to
// this node, and a reporter receives their results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "cluster/protocol/work.hpp"
#include "journal/record.hpp"

namespace mokume::cluster {

// Receives reports of running work. Only the thread of the work calls it.
class Reporter {
 public:
  virtual ~Reporter() = default;
  // Reports a finished fit of this attempt. Must be called once per fit. Fills in node, device, bundle, attempt and
  // times, from the start of the attempt until now. Returns before the record is on disk. Throws Error if the fit is
  // not part of this attempt, was reported before, or has values out of range, or if the journal has failed.
  virtual void report(const journal::FitRecord& record) = 0;
  // Reports the current activity and the finished share of this attempt, in [0, 1]. Calls are cheap.
  virtual void progress(const std::string& what, double share) = 0;
  // Returns whether the attempt is no longer needed. The work must then throw Error(MK_CANCELLED) or return soon.
  virtual bool cancelled() const = 0;
};

// Ignores all reports. Members of a team other than the leader use it: the leader reports for all of them.
class SilentReporter : public Reporter {
 public:
  void report(const journal::FitRecord&) override {}
  void progress(const std::string&, double) override {}
  bool cancelled() const override { return false; }
};

// Runs the work of a node. The agent calls run() on the device's thread, and all other functions on its own.
class Executor {
 public:
  virtual ~Executor() = default;

  // Returns the devices that this node's HELLO lists.
  virtual std::vector<LocalDevice> devices() const = 0;

  // Works on one attempt; different devices run concurrently. On return, every fit must have been reported. If run()
  // throws an Error, the attempt fails, and its fits are retried on this or another device. An Error of MK_BAD_DATA,
  // MK_INVALID_ARGUMENT or MK_STORAGE, or an invalid report, would recur on every device and therefore stops the run.
  // `team` is null for a device that works alone.
  virtual void run(uint32_t device, const Attempt& attempt, Reporter& reporter, const mk_team* team) = 0;

  // Returns the joules that this device has used since any fixed time, or nothing if nobody counts them. May be called
  // on the device's thread, too. Counters start again at 0 after minutes at full power, so callers must not leave
  // longer pauses while the device works.
  virtual std::optional<double> energy_j(uint32_t /*device*/) { return std::nullopt; }

  // Kills hanging work on this device, so that run() throws. Returns false if that is impossible.
  virtual bool kill(uint32_t device) noexcept = 0;

  // Deletes the data for crash recovery of a fit of this node, whose record is now on disk.
  virtual void saved(uint32_t fit) noexcept = 0;

  // Notes that work still hangs at the end of the run. The executor, the journal and everything that the work uses must
  // then live until the process exits with _exit.
  virtual void abandon() noexcept = 0;
};

}  // namespace mokume::cluster
