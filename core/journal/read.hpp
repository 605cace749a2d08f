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

// A fit that was computed more than once, with results that do not go together: see consistent() in agree.hpp.
struct Disagreement {
  uint32_t fit = 0;
  bool one_class = false;  // on one device class, where they must be the same bits
  std::string text;        // one sentence that names both places and which of them counts
};

struct Contents {
  std::vector<FitRecord> records;           // sorted by fit, one per fit: those that count
  std::vector<FitRecord> refits;            // the same of the refits
  std::vector<FitRecord> repeats;           // further ones of the same fits, by fit, which count for nothing
  std::vector<Disagreement> disagreements;  // of a repeat with the record that counts, by fit
  std::vector<Session> sessions;            // by node, then in the order of the file
  std::vector<EventRecord> events;          // by time
  double wall_s = 0;                        // time in which at least one node was in a session
  std::vector<std::string> notices;         // lines that were left out, each with its reason
};

// Merges node-*.ndjson below `directory`; none, or no such directory, is an empty run. Of several records of one fit or
// refit the first counts in this order: those that no event calls superseded, those that did not fail before those that
// did, then by node, then by line. Which one that is depends on the files alone, and neither its repeats nor what they
// say make a run unreadable.
//
// Throws Error(MK_BAD_DATA) that names file, line and cure for: a damaged line that is not the last, another plan or
// format, a fit the plan does not have. Events of an unknown kind are skipped.
Contents read_all(const std::string& directory, const search::Plan& plan);

// Those of `contents` that count there in place of one of `counted`, with another result; in which order records came
// is not in the files. Superseded they leave `counted` to count.
std::vector<FitRecord> rivals(const std::vector<FitRecord>& counted, const Contents& contents);

// `record` does not count, for `why`.
EventRecord supersede(const FitRecord& record, double time_s, const std::string& why);

// Seconds in which a device had a fit of these in work, by (node, device). Fits of one bundle overlap in time, hence
// the union of their intervals.
using BusySeconds = std::map<std::pair<uint32_t, std::string>, double>;
BusySeconds busy_seconds(const std::vector<FitRecord>& records);
// The busy seconds of one device. The time of a team counts for each of its devices, waiting for each other included.
double busy_of(const BusySeconds& busy, uint32_t node, const std::string& device);

}  // namespace mokume::journal
