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
  double stop_s = 0;    // for a killed session, the end of its last fit
  bool closed = false;  // the session recorded its own end
  std::string reason;   // the argument of Journal::close
};

// A fit that was computed repeatedly, with inconsistent results: see consistent() in agree.hpp.
struct Disagreement {
  uint32_t fit = 0;
  bool one_class = false;  // on one device class, where bits must be equal
  std::string text;        // one sentence that names both locations and the record that counts
};

struct Contents {
  std::vector<FitRecord> records;           // records that count: one per fit, sorted by fit
  std::vector<FitRecord> refits;            // records that count for refits
  std::vector<FitRecord> repeats;           // further records of the same fits, by fit; they do not count
  std::vector<Disagreement> disagreements;  // between a repeat and the record that counts, by fit
  std::vector<RecordedSession> sessions;    // by node, then in file order
  std::vector<EventRecord> events;          // by time
  double wall_s = 0;                        // total time with at least one node in a session
  std::vector<std::string> notices;         // skipped lines, each with the reason
};

// Merges node-*.ndjson in `directory`; neither may be a symbolic link. Without files or directory, the run is empty. If
// a fit or refit has several records, one counts, preferred in this order: not superseded by an event, not failed,
// lowest node, first line. The choice depends only on the files, and neither repeats nor their content make a run
// unreadable.
//
// Throws Error(MK_BAD_DATA) that names file, line and cure for a damaged line that is not the last, for another plan or
// format, for a fit outside the plan, and for a value out of `bounds`. Events of an unknown kind are skipped.
Contents read_all(const std::string& directory, const search::Plan& plan, const Bounds& bounds = {});

// Returns the records of `contents` that count instead of a record of `counted` with another result; the files do not
// hold the order in which records arrived. After superseding them, the records in `counted` count.
std::vector<FitRecord> rivals(const std::vector<FitRecord>& counted, const Contents& contents);

// Returns an event that declares that `record` does not count, with the reason `why`.
EventRecord supersede(const FitRecord& record, double time_s, const std::string& why);

// Seconds in which a device worked on at least one of these fits, by (node, device). Fits of one bundle overlap in
// time, so this is the union of their intervals.
using BusySeconds = std::map<std::pair<uint32_t, std::string>, double>;
BusySeconds busy_seconds(const std::vector<FitRecord>& records);
// Returns the busy seconds of one device. The time of a team counts for each of its devices, waiting included.
double busy_of(const BusySeconds& busy, uint32_t node, const std::string& device);

}  // namespace mokume::journal
