// What `mokume prune` removes: old runs, checkpoints that nothing needs, and built kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspect/list.hpp"

namespace mokume::inspect {

// Exactly one of the first three is set.
struct PruneRule {
  std::optional<double> older_than_s;   // runs and built kernels that are older
  std::optional<uint64_t> larger_than;  // runs, and the cache of built kernels, with more bytes
  std::optional<uint64_t> keep;         // all but the newest so many runs of each experiment
  bool unfinished = false;              // unfinished runs as well
};

struct Removal {
  std::string path, what;  // "finished, 3 d 02 h old"
  uint64_t bytes = 0;
  bool is_run = false;  // a run directory, which must not be in use
};

// Returns what the rule selects. `runs` are those of list_runs(). Running and damaged runs are never selected. Of
// finished runs that stay, the checkpoints are selected. `cache` is the cache directory or "". Does not follow symbolic
// links.
std::vector<Removal> removals(const std::vector<ListedRun>& runs, const PruneRule& rule, const std::string& cache,
                              double now_s);

// Removes it, and the directory of an experiment that becomes empty. Returns why it could not be removed, or "". A run
// that a process works on stays. Does not follow symbolic links.
std::string remove(const Removal& removal);

}  // namespace mokume::inspect
