// Finds and removes files for `mokume prune`: old runs, superfluous checkpoints, built kernels and decoded pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspect/list.hpp"

namespace mokume::inspect {

// Exactly one of the first three members is set.
struct PruneRule {
  std::optional<double> older_than_s;   // selects older runs and cached files
  std::optional<uint64_t> larger_than;  // selects larger runs, and larger folders of the cache
  std::optional<uint64_t> keep;         // number of newest runs of each experiment that stay
  bool unfinished = false;              // includes unfinished runs
};

struct Removal {
  std::string path, what;  // `what` is a description such as "finished, 3 d 02 h old"
  uint64_t bytes = 0;
  bool is_run = false;  // remove() refuses a run that is in use
};

// Returns the entries that the rule selects, and the checkpoints of finished runs that stay. `runs` comes from
// list_runs(); running and damaged runs stay. `cache` is the cache directory, or "" to leave it alone. Does not follow
// symbolic links.
std::vector<Removal> removals(const std::vector<ListedRun>& runs, const PruneRule& rule, const std::string& cache,
                              double now_s);

struct Kept {
  std::string why;      // "" if the entry was removed
  bool passes = false;  // whether the same command can succeed later
};

// Removes the entry, and the directory of its experiment if that becomes empty. Does not remove a run in use, and does
// not follow symbolic links.
Kept remove(const Removal& removal);

}  // namespace mokume::inspect
