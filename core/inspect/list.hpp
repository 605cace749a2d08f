// Lists the runs below a directory for `mokume list`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "registry/registry.hpp"

namespace mokume::inspect {

struct ListedRun {
  enum class RunState { finished, unfinished, running, damaged };

  std::string directory, name, stamp;  // "runs/quickstart/2026-11-25_101500", "quickstart", "2026-11-25_101500"
  RunState state = RunState::damaged;
  uint64_t fits = 0, planned = 0;
  uint64_t failed = 0;         // failed fits, or failed refits if no fit failed
  std::optional<double> best;  // mean of the best candidate so far
  std::string metric;          // name of the metric in `best`
  nlohmann::ordered_json params;
  double worked_s = 0;  // time of the last write to run.json or a journal, in seconds since the epoch
  uint64_t bytes = 0;
  std::string trouble;  // reason why the run cannot be read
};

// Returns the runs in DIRECTORY/STAMP and DIRECTORY/NAME/STAMP, newest stamp first. Only reads, follows no symbolic
// links, and does not throw for a damaged run. Throws Error(MK_INVALID_ARGUMENT) if the directory does not exist.
std::vector<ListedRun> list_runs(registry::Registry& registry, const std::string& directory);

const char* name_of(ListedRun::RunState state);

// Returns whole lines. `now_s` is in seconds since the epoch.
std::string list_text(const std::vector<ListedRun>& runs, double now_s);
nlohmann::ordered_json list_json(const std::vector<ListedRun>& runs, double now_s);

}  // namespace mokume::inspect
