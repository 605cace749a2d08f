// Maintains a run directory and its record, run.json, on node 0 during a run.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "cluster/protocol/messages.hpp"
#include "node/experiment.hpp"
#include "run/run.hpp"
#include "run/run_directory.hpp"

namespace mokume::run {

// Returns how long to wait for a directory that another process holds: after a takeover, until the lock of the lost
// node must have expired.
LockWait lock_wait(const RunRequest& request, const std::atomic<bool>& stop);

// Throws Error(MK_INVALID_ARGUMENT), which names the file, if one that `config` names has other contents than when the
// run in `directory` started.
void check_files(const std::string& directory, const RunRecord& record, const config::Config& config);

class RecordedRun {
 public:
  // Opens the requested directory. Without a request, opens this plan's newest run if it is unfinished, or creates a
  // new run. Throws Error(MK_INVALID_ARGUMENT) if the directory holds another plan, and errors of DirectoryLock. `stop`
  // ends the wait for a lock.
  RecordedRun(const RunRequest& request, const node::Experiment& experiment, const std::atomic<bool>& stop);

  RunRecord& record() { return record_; }
  const RunDirectory& directory() const { return directory_; }
  void write() { directory_.write_record(record_); }

  void note_devices(const std::vector<std::vector<cluster::LocalDevice>>& nodes);

  // Restores the speeds measured at each device's first start, because they determine the shares of a team and, in
  // local SGD, its results.
  void recall_speeds(std::vector<std::vector<cluster::LocalDevice>>& nodes) const;

  // Returns one sentence that tells which repetitions give the same result.
  std::string reproducibility(bool team) const;

 private:
  std::string precisions() const;
  bool strict() const;

  RunDirectory directory_;
  RunRecord record_;
};

}  // namespace mokume::run
