// Shows a run to a program as events, and applies the run's settings to the process.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "report/pages/write.hpp"
#include "results/best.hpp"
#include "run/frontend.hpp"
#include "run/run.hpp"
#include "runtime.hpp"
#include "signals.hpp"

namespace mokume::app {

// Tracks a run for a display. run() calls these functions on its own thread.
class ProcessFrontend : public run::Frontend {
 public:
  ProcessFrontend(Runtime& runtime, StopWatch& watch) : runtime_(runtime), watch_(watch) {}

  std::string stop_cause() override { return watch_.cause(); }
  void limit_loops(uint32_t threads) override { runtime_.limit_loops(threads); }
  void leave_threads() override { runtime_.leave_threads(); }
  void begin_fits(const run::FitsStart& start) override;
  void draw(const results::RunView& view, const std::string& directory) override { report::write(view, directory); }

  // Returns the run directory, or "" before it exists.
  const std::string& directory() const { return directory_; }

 protected:
  search::Plan plan_;
  std::vector<results::Metric> metrics_;
  std::optional<results::BestSoFar> best_;  // set by begin_fits()
  std::vector<std::vector<cluster::LocalDevice>> nodes_;

 private:
  Runtime& runtime_;
  StopWatch& watch_;
  std::string directory_;
};

// Prints one JSON object per line to stdout. docs/howto/runs.md lists the events. Any thread may log a line.
class Events : public ProcessFrontend {
 public:
  using Json = nlohmann::ordered_json;
  using ProcessFrontend::ProcessFrontend;

  void phase(const std::string& text) override { put("phase", {{"text", text}}); }
  void begin_fits(const run::FitsStart& start) override;
  void fit_done(const journal::FitRecord& record) override;
  void device_state(uint32_t node, uint32_t device, const std::string& what, double share) override;

  void logged(mk_log_level level, const std::string& line);
  void failed(const std::string& why) { put("error", {{"text", why}}); }
  // Prints the last event. `exit_code` is the program's exit code. Leaves out the command `resume` if it is "".
  void summary(const run::RunResult& result, int exit_code, const std::string& resume);

 private:
  void put(const char* event, const Json& fields);
  void put_fit(const journal::FitRecord& record);
  void put_best();
  static Json where(const journal::FitRecord& record);

  std::mutex mutex_;                                            // protects stdout
  std::map<std::pair<uint32_t, uint32_t>, std::string> doing_;  // by node and device
};

}  // namespace mokume::app
