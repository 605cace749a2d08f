// The interfaces between an agent and its process: an executor runs the bundles that the coordinator leases to this
// node, and a reporter receives their results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/model.h"
#include "cluster/protocol/work.hpp"
#include "journal/record.hpp"

namespace mokume::cluster {

// Receives reports of running work. Used only on the thread of the work.
class Reporter {
 public:
  virtual ~Reporter() = default;
  // Reports a finished fit of this attempt, once per fit. Node, device, bundle, attempt and times are filled in here:
  // start_s is the start of the attempt, end_s is now. Returns before the record is on disk. Throws Error if the fit is
  // not part of this attempt or was reported before, or if the journal has failed.
  virtual void report(const journal::FitRecord& record) = 0;
  // Reports the current activity and the finished part of this attempt, in [0, 1]. Cheap.
  virtual void progress(const std::string& what, double share) = 0;
  // This attempt is no longer needed: throw Error(MK_CANCELLED) or return soon. Reported fits stay.
  virtual bool cancelled() const = 0;
};

// For members of a team other than the leader, which reports for all and checks whether the attempt is cancelled.
class SilentReporter : public Reporter {
 public:
  void report(const journal::FitRecord&) override {}
  void progress(const std::string&, double) override {}
  bool cancelled() const override { return false; }
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Listed as in this node's HELLO.
  virtual std::vector<LocalDevice> devices() const = 0;

  // Works on one attempt, on that device's thread; different devices run concurrently. On return, every fit must have
  // been reported. A thrown Error fails this attempt, and its fits are retried here or elsewhere. An Error of
  // MK_BAD_DATA, MK_INVALID_ARGUMENT or MK_STORAGE, or an invalid report, would recur everywhere and therefore stops
  // the run.
  // `team` is null for a device that works alone.
  virtual void run(uint32_t device, const Attempt& attempt, Reporter& reporter, const mk_team* team) = 0;

  // Kills hanging work on this device, so that run() throws. Returns false if that is impossible. Called on the agent's
  // thread.
  virtual bool kill(uint32_t device) noexcept = 0;

  // A fit of this node is on disk, so its crash recovery data is no longer needed. Called on the agent's thread.
  virtual void saved(uint32_t fit) noexcept = 0;

  // Work still hangs at the end of the run. The executor, the journal and everything that the work uses must live until
  // the process exits with _exit. Called on the agent's thread.
  virtual void abandon() noexcept = 0;
};

}  // namespace mokume::cluster
