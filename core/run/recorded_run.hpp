// A run directory with its record, run.json, as node 0 keeps it during a run.
#pragma once

#include <string>
#include <vector>

#include "cluster/protocol/messages.hpp"
#include "node/experiment.hpp"
#include "run/run.hpp"
#include "run/run_directory.hpp"

namespace mokume::run {

class RecordedRun {
 public:
  // Opens the directory that the request names, or the newest unfinished one of this plan, or makes one.
  // Error(MK_INVALID_ARGUMENT) if it holds another plan.
  RecordedRun(const RunRequest& request, const node::Experiment& experiment);

  RunRecord& record() { return record_; }
  const RunDirectory& directory() const { return directory_; }
  void write() { directory_.write_record(record_); }

  // Adds the devices and hosts of this session to those of earlier ones.
  void note_devices(const std::vector<std::vector<cluster::LocalDevice>>& nodes);

  // A device is as fast as at its first start: the shares of a team, and in local SGD its results, follow from it.
  void recall_speeds(std::vector<std::vector<cluster::LocalDevice>>& nodes) const;

  // One sentence: what would come out the same again.
  std::string reproducibility(bool team) const;

 private:
  RunDirectory directory_;
  RunRecord record_;
};

}  // namespace mokume::run
