// Reads the journals of all nodes of a run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "journal/record.hpp"
#include "search/plan.hpp"

namespace mokume::journal {

// One stretch in which a node worked on the run.
struct Session {
  uint32_t node = 0;
  double start_s = 0;   // seconds since the epoch
  double stop_s = 0;    // if it was killed: the end of its last fit
  bool closed = false;  // it noted its own end
  std::string reason;   // as given to Journal::close
};

struct Contents {
  std::vector<FitRecord> records;    // sorted by fit, one per fit
  std::optional<RefitRecord> refit;  // the last line of its kind
  std::vector<Session> sessions;     // by node, then in the order of the file
  double wall_s = 0;                 // time in which at least one node was in a session
  std::vector<std::string> notices;  // torn last lines that were left out
};

// Merges node-*.ndjson below `directory`; none, or no such directory, is an empty run. Throws Error(MK_BAD_DATA) that
// names file, line and cure for: a damaged line that is not the last, another plan or format, a fit the plan does not
// have, two records of one fit that disagree in status, n, values, note or curves (bit for bit; of those that agree,
// the one of the lowest node stays).
Contents read_all(const std::string& directory, const search::Plan& plan);

// Seconds in which a device had a fit of these in work, by (node, device). Fits of one bundle overlap in time, hence
// the union of their intervals.
std::map<std::pair<uint32_t, std::string>, double> busy_seconds(const std::vector<FitRecord>& records);

}  // namespace mokume::journal
