// A run: plan, devices of all nodes, journal, best candidate, refit, test, report.
//
// In this folder: one run from start to end, its directory, and the ensemble that it leaves. What reads finished runs
// is not here (core/inspect), and neither is how fits are spread over nodes (core/cluster).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "cluster/protocol/silence.hpp"
#include "cluster/transport/transport.hpp"
#include "config/config.hpp"
#include "registry/registry.hpp"
#include "report/view.hpp"
#include "run/frontend.hpp"

namespace mokume::run {

struct RunRequest {
  config::Config config;
  std::string source_text;  // the experiment file as it is
  std::string command;      // for the report
  bool fresh = false;
  bool profile = false;                      // time every op and transfer; shown at the end and in the report
  std::optional<std::string> directory;      // resume this one
  double hang_s = cluster::Limits().hang_s;  // a device that gives no sign of life for this long hangs
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
  std::vector<std::string> cautions = {};             // see report/tables/cautions.hpp
  std::string reproducibility;                        // one sentence: what would come out the same again
  std::string reason;                                 // of a stop
  std::string profile;                                // tables for each device of each node, if asked for
};

// Called by every rank; only rank 0's result says more than the state. A set `stop` drains and returns "stopped".
RunResult run(registry::Registry& registry, base::Log& log, cluster::Transport& transport, const RunRequest& request,
              Frontend& frontend, const std::atomic<bool>& stop);

}  // namespace mokume::run
