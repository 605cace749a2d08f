// A run: plan, devices of all nodes, journal, best candidate, refit, test, report.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "cluster/protocol/types.hpp"
#include "cluster/transport/transport.hpp"
#include "config/config.hpp"
#include "journal/record.hpp"
#include "registry/registry.hpp"
#include "report/view.hpp"
#include "run/run_directory.hpp"

namespace mokume::run {

// What a display is told; calls come from the thread of run().
struct Observer {
  std::function<void(const std::string& text)> phase;
  std::function<void(uint64_t total, uint64_t done)> begin_fits;  // refits count as fits
  std::function<void(const journal::FitRecord&)> record;
  std::function<void(uint32_t node, const std::string& id, const std::string& name, const std::string& what,
                     double share)>
      device_state;
  std::function<void()> end_fits;
  // A device hangs and its thread was left behind: once everything is written, the process has to end by _exit.
  std::function<void()> abandoned = {};
};

struct RunRequest {
  config::Config config;
  std::string source_text;  // the experiment file as it is
  std::string command;      // for the report
  bool fresh = false;
  bool profile = false;                  // time every op and transfer; shown at the end and in the report
  std::optional<std::string> directory;  // go on with this one
  // Told how many threads loops of this process should use, before the first of them; may be empty.
  std::function<void(uint32_t threads)> limit_loops = {};
  double hang_s = cluster::k_hang_s;  // a device that gives no sign of life for this long hangs
};

struct RunResult {
  std::string directory;
  std::string state;  // "done", "failed fits" or "stopped"
  uint64_t failed = 0;
  bool refit_failed = false;  // `reason` says why
  std::string best;           // "C = 10, gamma = 0.01", or ""
  uint32_t folds = 0;
  std::string metric;  // that chose it, e.g. "error"; "" without validation
  double best_mean = 0, best_sd = 0;
  std::optional<report::TestResult> test;             // of an ensemble: of its vote
  uint32_t members = 0;                               // of an ensemble
  std::vector<report::TestResult> member_tests = {};  // of each that has one
  std::string reproducibility;                        // one sentence: what would come out the same again
  std::string reason;                                 // of a stop
  std::string profile;                                // tables for each device of each node, if asked for
};

// Called by every rank; only rank 0's result says more than the state. A set `stop` drains and returns "stopped".
RunResult run(registry::Registry& registry, base::Log& log, cluster::Transport& transport, const RunRequest& request,
              const Observer& observer, const std::atomic<bool>& stop);

// Writes every file of a run directory that comes from the journal, and returns what they were made from. `record`:
// what run.json says, or will say once they are written.
report::RunView write_report(registry::Registry& registry, const std::string& directory, const RunRecord& record);
report::RunView rebuild_report(registry::Registry& registry, const std::string& directory);  // as run.json says now

// The view of a run directory, from its journal and run.json.
report::RunView read_view(registry::Registry& registry, const std::string& directory);

}  // namespace mokume::run
