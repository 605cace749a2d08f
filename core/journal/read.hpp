// Reads the journals of all nodes of a run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "journal/bounds.hpp"
#include "journal/record.hpp"
#include "search/plan.hpp"

namespace mokume::journal {

struct RecordedSession {
  uint32_t node = 0;
  double start_s = 0;   // seconds since the epoch
  double stop_s = 0;    // end; for a killed session, the end of its last fit or event
  bool closed = false;  // the session recorded its own end
  std::string reason;   // the argument of Journal::close
};

// Describes a fit that was computed repeatedly, with inconsistent results: see consistent() in agree.hpp.
struct Disagreement {
  uint32_t fit = 0;
  bool one_class = false;  // both results must have equal bits: see must_be_equal()
  std::string text;        // one sentence that names both locations and the record that counts
};

struct Contents {
  std::vector<FitRecord> records;           // records that count: one per fit, sorted by fit
  std::vector<FitRecord> refits;            // records that count for refits
  std::vector<FitRecord> repeats;           // further records of the same fits, by fit; they do not count
  std::vector<Disagreement> disagreements;  // between a repeat and the record that counts, by fit
  std::vector<RecordedSession> sessions;    // by node, then in file order
  std::vector<EventRecord> events;          // by time
  double wall_s = 0;                        // total seconds with at least one node in a session
  std::vector<std::string> notices;         // skipped lines, each with the reason
};

// Merges the files node-*.ndjson in `directory`. Neither the directory nor a file may be a symbolic link. Without files
// or directory, the run is empty. If a fit or refit has several records, one counts. The criteria are, in this order:
// no event supersedes it, it has not failed, its node is the lowest, its line is the first. The choice depends only on
// the files, and inconsistent records do not make a run unreadable.
//
// Throws Error(MK_BAD_DATA), which names file, line and cure, for a damaged line that is not the last, for another plan
// or format, for a fit outside the plan, and for a value out of `bounds`. Skips events that are invalid or unknown.
Contents read_all(const std::string& directory, const search::Plan& plan, const Bounds& bounds = {});

// Returns, for each fit for which `contents` counts another result than `counted`, all records with another result.
// Once events supersede these, the records in `counted` count. The files do not hold the order in which records arrive.
std::vector<FitRecord> rivals(const std::vector<FitRecord>& counted, const Contents& contents);

// Returns an event that supersedes `record`, for the reason `why`.
EventRecord supersede(const FitRecord& record, double time_s, const std::string& why);

// Maps (node, device) to the seconds in which the device worked on at least one of the fits. Fits of one bundle overlap
// in time, so these are the seconds of the union of their intervals.
using BusySeconds = std::map<std::pair<uint32_t, std::string>, double>;
BusySeconds busy_seconds(const std::vector<FitRecord>& records);
// Returns the busy seconds of one device. The time of a team, including waiting, counts for each of its devices.
double busy_of(const BusySeconds& busy, uint32_t node, const std::string& device);

}  // namespace mokume::journal
