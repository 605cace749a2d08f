// A run: plan, devices of all nodes, journal, best candidate, refit, test and report.
//
// This folder contains one run from start to finish, its directory, and the ensemble that it leaves. Reading finished
// runs belongs to core/inspect, and distributing fits over nodes to core/cluster.
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
  std::string command;      // for the report
  std::string version;      // version of the program, to the commit: fits of another version are not taken over
  bool fresh = false;
  bool profile = false;                      // time every op and transfer; shown at the end and in the report
  std::optional<std::string> directory;      // resume this one
  double hang_s = cluster::Limits().hang_s;  // a device without a sign of life for this long hangs
};

struct RunResult {
  std::string directory;
  std::string state;  // "done", "failed fits" or "stopped"
  // The run had already finished, and nothing was computed: when its last fit ended, in seconds since the epoch.
  std::optional<double> earlier_end_s = {};
  uint64_t failed = 0;
  std::string failure;        // cause of the first failed fit, and the cure if the model knows one
  bool refit_failed = false;  // `reason` explains why
  std::string best;           // "C = 10, gamma = 0.01", or ""
  uint32_t folds = 0;
  std::string metric;  // selection metric, e.g. "error"; "" without validation
  double best_mean = 0, best_sd = 0;
  std::optional<results::TestResult> test;             // for an ensemble, of its vote
  uint32_t members = 0;                                // number of models of an ensemble
  std::vector<results::TestResult> member_tests = {};  // results of all members that have one
  std::vector<std::string> cautions = {};              // see results/cautions.hpp
  std::string reproducibility;                         // one sentence: what would come out the same again
  std::string reason;                                  // why the run stopped
  std::vector<results::DeviceProfile> profiles = {};   // if requested
};

// Called by every rank; only rank 0's result contains more than the state. If `stop` is set, the run drains and returns
// "stopped". If the newest run of the plan is finished, and neither a fresh run nor a directory is requested, this
// returns its result and computes nothing.
RunResult run(registry::Registry& registry, base::Log& log, cluster::Transport& transport, const RunRequest& request,
              Frontend& frontend, const std::atomic<bool>& stop);

}  // namespace mokume::run
