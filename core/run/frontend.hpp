// The services that the surrounding program provides to a run.
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

// Describes the start of a run's fits. References are valid during the call, except `status`: until end_fits().
struct FitsStart {
  const std::string& directory;
  bool resumed = false;
  const search::Plan& plan;
  const std::vector<results::Metric>& metrics;
  const std::vector<std::vector<cluster::LocalDevice>>& nodes;
  const std::vector<journal::FitRecord>& done;  // fits and refits of earlier sessions
  const StatusFile& status;                     // notified before the frontend
};

// Displays a run. All calls come from the thread of run(). Overriding any of these functions is optional.
class Frontend : public cluster::Observer {
 public:
  virtual void begin_fits(const FitsStart& start) { static_cast<void>(start); }
  virtual void end_fits() {}

  // Writes charts, event files and a page into a run directory that holds its tables. Throws Error(MK_STORAGE).
  virtual void draw(const results::RunView& view, const std::string& directory) {
    static_cast<void>(view), static_cast<void>(directory);
  }

  // ---- process settings

  // Why this process asks the run to stop, for example "SIGTERM"; "" if it does not.
  virtual std::string stop_cause() { return ""; }

  // Sets the number of threads for the loops of this process. Called before the first loop.
  virtual void limit_loops(uint32_t threads) { static_cast<void>(threads); }
  // A hanging device's thread was left running: once everything is written, the process must exit with _exit.
  virtual void leave_threads() {}
};

}  // namespace mokume::run
