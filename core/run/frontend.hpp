// The services that the surrounding program provides to a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/protocol/messages.hpp"
#include "journal/record.hpp"
#include "results/best.hpp"
#include "search/plan.hpp"

namespace mokume::run {

struct FitCounts {
  uint64_t fits = 0, refits = 0;
};

// What a session begins with. References are valid during the call.
struct SessionStart {
  const std::string& directory;
  bool resumed = false;
  const search::Plan& plan;
  const std::vector<results::Metric>& metrics;
  const std::vector<std::vector<cluster::LocalDevice>>& nodes;  // the devices of each node
  FitCounts total;                                              // of the plan
  FitCounts done;                                               // of earlier sessions
};

// All calls come from the thread of run(). Overriding any of these functions is optional.
class Frontend {
 public:
  virtual ~Frontend() = default;

  // ---- display

  virtual void phase(const std::string& text) { static_cast<void>(text); }
  virtual void begin_fits(const SessionStart& start) { static_cast<void>(start); }
  virtual void fit_done(const journal::FitRecord& record) { static_cast<void>(record); }  // or a refit
  // There is a better candidate than before, or there is one from earlier sessions.
  virtual void best_so_far(const results::BestSoFar& best) { static_cast<void>(best); }
  virtual void device_state(uint32_t node, const std::string& id, const std::string& name, const std::string& what,
                            double share) {
    static_cast<void>(node), static_cast<void>(id), static_cast<void>(name), static_cast<void>(what);
    static_cast<void>(share);
  }
  virtual void time_left(std::optional<double> seconds) { static_cast<void>(seconds); }  // nothing: unknown
  virtual void end_fits() {}

  // Writes charts, event files and a page into a run directory, whose tables are written. Throws Error(MK_STORAGE) if
  // it cannot.
  virtual void draw(const results::RunView& view, const std::string& directory) {
    static_cast<void>(view), static_cast<void>(directory);
  }

  // ---- process settings

  // Why this process asks the run to stop: "SIGTERM"; "" if it does not.
  virtual std::string stop_cause() { return ""; }

  // Sets the number of threads that loops of this process use. Called before the first loop.
  virtual void limit_loops(uint32_t threads) { static_cast<void>(threads); }
  // A device hangs and its thread was left running: once everything is written, the process must exit with _exit.
  virtual void leave_threads() {}
};

}  // namespace mokume::run
