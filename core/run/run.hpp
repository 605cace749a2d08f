// Runs an experiment: plan, devices of all nodes, journal, best candidate, refit, test and report.
//
// This folder takes one run from start to finish, and manages its directory and the resulting ensemble. core/inspect
// reads finished runs, and core/cluster distributes fits over nodes.
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
#include "results/view.hpp"
#include "run/frontend.hpp"

namespace mokume::run {

struct RunRequest {
  config::Config config;
  std::string source_text;  // the unmodified experiment file
  std::string command;      // shown in the report
  std::string version;      // version of the program, to the commit: a run reuses only fits of its own version
  bool fresh = false;
  bool profile = false;                  // times every op and transfer, for the summary and the report
  std::optional<std::string> directory;  // directory of the run to resume
  // After node 0 was lost: the time, in seconds since the epoch, and on the new node 0 a text for users and the
  // journal.
  struct Takeover {
    double at_s = 0;
    std::string text;
  };
  std::optional<Takeover> takeover = {};
  double hang_s = cluster::Limits().hang_s;  // a device without a sign of life for this long hangs
};

struct RunResult {
  std::string directory;
  std::string state;  // "done", "failed fits" or "stopped"
  // If the run had already finished, this is the end of its last fit, in seconds since the epoch.
  std::optional<double> earlier_end_s = {};
  uint64_t failed = 0;
  std::string failure;        // description of the first failed fit, with a remedy if the model knows one
  bool refit_failed = false;  // `reason` explains why
  std::string best;           // "C = 10, gamma = 0.01"; "" without a best one or without search parameters
  uint32_t folds = 0;
  std::string metric;  // selection metric, e.g. "error"; "" without validation
  double best_mean = 0, best_sd = 0;
  struct Score {
    std::string metric;
    double mean = 0, sd = 0;
  };
  std::vector<Score> scores = {};                // scores of the best candidate, in the measures of validation.score
  std::optional<results::TestResult> test;       // for an ensemble, the result of its vote
  std::optional<results::TestResult> validated;  // see RunView::validated
  uint32_t members = 0;                          // size of the ensemble
  std::vector<results::TestResult> member_tests = {};  // results of the members that have one
  std::vector<std::string> cautions = {};              // see results/cautions.hpp
  std::string reproducibility;                         // one sentence that tells which repetitions give the same result
  std::string reason;                                  // reason for a stop
  bool leader_lost = false;                            // node 0 died or fell silent, and may be replaced
  std::vector<results::DeviceProfile> profiles = {};   // filled if requested
  std::vector<int64_t> rung_rows = {};                 // Splits::rows_in_rung() of each rung, then rows_of_whole()
};

// Every rank must call it, and again after Transport::regroup() if node 0 was lost. On ranks other than 0, the result
// contains only the directory, state, reason and leader_lost. If `stop` is set, the run drains and its state is
// "stopped". If the newest run of the plan is finished, and the request asks for neither a fresh run nor a directory,
// returns the result of that run and computes nothing; a run that is taken over may also be finished.
RunResult run(registry::Registry& registry, base::Log& log, cluster::Transport& transport, const RunRequest& request,
              Frontend& frontend, const std::atomic<bool>& stop);

}  // namespace mokume::run
