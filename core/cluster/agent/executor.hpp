// The interfaces between an agent and the process it is in: something that runs the bundles which the coordinator
// leases to this node, and through which these talk back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/protocol/work.hpp"
#include "journal/record.hpp"

namespace mokume::cluster {

// How work talks back while it runs. Used on the thread of the work alone.
class Reporter {
 public:
  virtual ~Reporter() = default;
  // A finished fit of this attempt, once each; node, device, bundle, attempt and times are filled in here: start_s is
  // the start of the attempt, end_s is now. Returns before it is on disk. Throws Error if the fit is not of this
  // attempt or was reported before, or if the journal has failed.
  virtual void report(const journal::FitRecord& record) = 0;
  // Says what is being done, and how much of this attempt is done, in [0, 1]. Cheap.
  virtual void progress(const std::string& what, double share) = 0;
  // This attempt is not wanted any more: throw Error(MK_CANCELLED) or return soon; what was reported stays.
  virtual bool cancelled() const = 0;
};

// For a member of a team that does not lead: the leader reports, and sees whether the attempt is cancelled.
class SilentReporter : public Reporter {
 public:
  void report(const journal::FitRecord&) override {}
  void progress(const std::string&, double) override {}
  bool cancelled() const override { return false; }
};

class Executor {
 public:
  virtual ~Executor() = default;

  // The devices as this node named them in its HELLO.
  virtual std::vector<LocalDevice> devices() const = 0;

  // Works on one attempt, on that device's thread; different devices at the same time. On return, every fit must have
  // been reported. A thrown Error fails this attempt, and the fits are tried again, here or elsewhere. But an Error of
  // MK_BAD_DATA, MK_INVALID_ARGUMENT or MK_STORAGE, or a wrong report, would come again everywhere: it ends the run.
  virtual void run(uint32_t device, const Attempt& attempt, Reporter& reporter) = 0;

  // The work on this device hangs: end it by force, so that run() throws. False if that cannot be done. On the agent's
  // thread.
  virtual bool kill(uint32_t device) noexcept = 0;

  // A fit of this node is on disk: what it kept in case of a crash is not needed any more. On the journal's thread.
  virtual void saved(uint32_t fit) noexcept = 0;

  // Work hangs at the end of the run and was left running: the executor, the journal and everything that the work uses
  // must live until the process ends, by _exit. On the agent's thread.
  virtual void abandon() noexcept = 0;
};

}  // namespace mokume::cluster
