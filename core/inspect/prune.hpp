// Finds and removes files for `mokume prune`: old runs, superfluous checkpoints, and built kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspect/list.hpp"

namespace mokume::inspect {

// Exactly one of the first three members is set.
struct PruneRule {
  std::optional<double> older_than_s;   // selects older runs and built kernels
  std::optional<uint64_t> larger_than;  // selects larger runs, and the cache of built kernels if it is larger
  std::optional<uint64_t> keep;         // number of newest runs of each experiment that stay
  bool unfinished = false;              // includes unfinished runs
};

struct Removal {
  std::string path, what;  // "finished, 3 d 02 h old"
  uint64_t bytes = 0;
  bool is_run = false;  // a run directory must not be in use
};

// Returns the entries that the rule selects. `runs` comes from list_runs(). Never selects running or damaged runs;
// selects checkpoints of finished runs that stay. `cache` is the cache directory or "". Does not follow symbolic links.
std::vector<Removal> removals(const std::vector<ListedRun>& runs, const PruneRule& rule, const std::string& cache,
                              double now_s);

// Removes the entry, and the directory of an experiment that becomes empty. Returns "", or the reason why the removal
// failed. Does not remove a run in use. Does not follow symbolic links.
std::string remove(const Removal& removal);

}  // namespace mokume::inspect
