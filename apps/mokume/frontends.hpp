// Shows a run on the terminal or as events for a program, and applies its settings to the process.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "progress.hpp"
#include "report/pages/write.hpp"
#include "run/frontend.hpp"
#include "run/run.hpp"
#include "runtime.hpp"
#include "signals.hpp"

namespace mokume::app {

class ProcessFrontend : public run::Frontend {
 public:
  ProcessFrontend(Runtime& runtime, StopWatch& watch) : runtime_(runtime), watch_(watch) {}

  std::string stop_cause() override { return watch_.cause(); }
  void limit_loops(uint32_t threads) override { runtime_.limit_loops(threads); }
  void leave_threads() override { runtime_.leave_threads(); }
  void begin_fits(const run::SessionStart& start) override { directory_ = start.directory; }
  void draw(const results::RunView& view, const std::string& directory) override { report::write(view, directory); }

  // The run directory, once it has begun, or "".
  const std::string& directory() const { return directory_; }

 private:
  Runtime& runtime_;
  StopWatch& watch_;
  std::string directory_;
};

class Terminal : public ProcessFrontend {
 public:
  Terminal(Runtime& runtime, StopWatch& watch, Progress& progress)
      : ProcessFrontend(runtime, watch), progress_(progress) {}

  void phase(const std::string& text) override { progress_.phase(text); }
  void begin_fits(const run::SessionStart& start) override {
    ProcessFrontend::begin_fits(start);
    progress_.begin_fits(start.total, start.done);
  }
  void fit_done(const journal::FitRecord& record) override;
  void best_so_far(const results::BestSoFar& best) override { progress_.best(best.text()); }
  void device_state(uint32_t node, const std::string& id, const std::string& name, const std::string& what,
                    double share) override;
  void time_left(std::optional<double> seconds) override { progress_.time_left(seconds); }
  void end_fits() override { progress_.end_fits(); }

 private:
  Progress& progress_;
};

// Prints one JSON object per line to stdout: docs/howto/runs.md lists the events. Lines of the log come from any
// thread.
class Events : public ProcessFrontend {
 public:
  using Json = nlohmann::ordered_json;
  using ProcessFrontend::ProcessFrontend;

  void phase(const std::string& text) override { put("phase", {{"text", text}}); }
  void begin_fits(const run::SessionStart& start) override;
  void fit_done(const journal::FitRecord& record) override;
  void best_so_far(const results::BestSoFar& best) override;
  void device_state(uint32_t node, const std::string& id, const std::string& name, const std::string& what,
                    double share) override;

  void logged(mk_log_level level, const std::string& line);
  void failed(const std::string& why) { put("error", {{"text", why}}); }
  // The last event. `exit_code` is that of the program; `resume`, a command, is left out if it is "".
  void summary(const run::RunResult& result, int exit_code, const std::string& resume);

 private:
  void put(const char* event, const Json& fields);
  static Json where(const journal::FitRecord& record);

  std::mutex mutex_;  // of stdout
  search::Plan plan_;
  std::vector<results::Metric> metrics_;
  std::map<std::pair<uint32_t, std::string>, std::string> doing_;  // by node and device
};

}  // namespace mokume::app
