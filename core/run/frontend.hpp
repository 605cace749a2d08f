// Defines the services that the surrounding program provides to a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/coordinator/observer.hpp"
#include "cluster/protocol/work.hpp"
#include "results/view.hpp"
#include "run/status_file.hpp"
#include "search/plan.hpp"

namespace mokume::run {

// Describes the start of a run's fits. References are valid during the call; `status` is valid until end_fits().
struct FitsStart {
  const std::string& directory;
  bool resumed = false;
  const search::Plan& plan;
  const std::vector<results::Metric>& metrics;
  const std::vector<std::vector<cluster::LocalDevice>>& nodes;
  const std::vector<journal::FitRecord>& done;  // fits and refits of earlier sessions
  const StatusFile& status;                     // notified before the frontend
};

// Displays a run. All calls come from the thread of run(). Derived classes override only the functions that they need.
class Frontend : public cluster::Observer {
 public:
  virtual void begin_fits(const FitsStart& start) { static_cast<void>(start); }
  virtual void end_fits() {}

  // Writes charts, event files and a page into a run directory that holds its tables. Throws sdk::storage_error().
  virtual void draw(const results::RunView& view, const std::string& directory) {
    static_cast<void>(view), static_cast<void>(directory);
  }

  // ---- process settings

  // Returns why this process asks the run to stop, for example "SIGTERM", or "" if it does not.
  virtual std::string stop_cause() { return ""; }

  // Sets the number of threads for the loops of this process, before the first loop starts.
  virtual void limit_loops(uint32_t threads) { static_cast<void>(threads); }
  // Notes that a hanging thread was left running, so that the process must exit with _exit once everything is written.
  virtual void leave_threads() {}
};

}  // namespace mokume::run
