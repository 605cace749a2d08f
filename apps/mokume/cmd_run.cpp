// The commands run and resume.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/files.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "inspect/dry_run.hpp"
#include "outcome.hpp"
#include "progress.hpp"
#include "report/tables/stats.hpp"
#include "run/nested.hpp"
#include "run/run.hpp"
#include "run/view.hpp"
#include "sdk/error.hpp"
#include "signals.hpp"
#include "stored_run.hpp"
#include "version.hpp"

namespace mokume::app {
namespace {

std::optional<double> max_seconds(const RunOptions& options) {
  if (!options.max_time) return std::nullopt;
  const auto seconds = base::parse_duration(*options.max_time);
  if (!seconds)
    throw Error(MK_INVALID_ARGUMENT,
                "--max-time " + *options.max_time + " is not a duration: write 11h30m, 45m or 90s");
  return seconds;
}

// Shows a run on the terminal, and applies its settings to the process.
class Shown : public run::Frontend {
 public:
  Shown(Runtime& runtime, Progress& progress, StopWatch& watch)
      : runtime_(runtime), progress_(progress), watch_(watch) {}

  void phase(const std::string& text) override { progress_.phase(text); }
  void begin_fits(const run::FitCounts& total, const run::FitCounts& done) override {
    progress_.begin_fits(total, done);
  }
  void fit_done(const journal::FitRecord& record) override {
    progress_.fit_done(record);
    progress_.tick();
  }
  void device_state(uint32_t node, const std::string& id, const std::string& name, const std::string& what,
                    double share) override {
    progress_.device(node, id, name, what, share);
    progress_.tick();
  }
  void end_fits() override { progress_.end_fits(); }
  std::string stop_cause() override { return watch_.cause(); }
  void limit_loops(uint32_t threads) override { runtime_.limit_loops(threads); }
  void leave_threads() override { runtime_.leave_threads(); }

 private:
  Runtime& runtime_;
  Progress& progress_;
  StopWatch& watch_;
};

// `stored` is the run that is resumed by its directory, or null. Only the result of rank 0 is complete.
run::RunResult execute(Runtime& runtime, const run::RunRequest& request, StopWatch& watch,
                       const StoredRun* stored = nullptr) {
  registry::Registry& registry = runtime.registry();
  cluster::Transport& transport = runtime.transport();
  const bool leads = transport.rank() == 0;
  Progress progress(isatty(STDERR_FILENO) != 0, !leads);
  if (!leads) runtime.log().set_level(MK_LOG_ERROR);
  runtime.log().set_around(Progress::before_log, Progress::after_log, &progress);
  if (stored != nullptr) {
    stored->warn();
    stored->warn_of_backends();
  }

  Shown shown(runtime, progress, watch);
  run::RunResult result;
  try {
    result = run::run(registry, runtime.log(), transport, request, shown, watch.stop());
  } catch (const Error& error) {
    runtime.log().set_around(nullptr, nullptr, nullptr);
    const std::string cause = error.status() == MK_CANCELLED ? watch.cause() : "";
    if (cause.empty()) throw;
    throw Error(MK_CANCELLED, fmt::format("{}: {}", error.what(), cause));
  } catch (...) {
    runtime.log().set_around(nullptr, nullptr, nullptr);
    throw;
  }
  runtime.log().set_around(nullptr, nullptr, nullptr);
  std::fputs(result.profile.c_str(), stderr);
  return result;
}

// Runs the outer folds of a nested cross-validation that are not finished, and returns the exit code.
int run_outer_folds(Runtime& runtime, const run::RunRequest& whole, const std::string& directory, StopWatch& watch) {
  const bool leads = runtime.transport().rank() == 0;
  int code = kDone;
  for (uint32_t fold = 1; fold <= whole.config.outer; ++fold) {
    run::RunRequest request = whole;
    request.config = run::outer_config(whole.config, directory, fold);
    request.directory.reset();
    request.fresh = false;
    if (leads) request.source_text = base::read_file(directory + "/experiment.toml", 1U << 24);
    if (leads) say(stderr, "mokume: outer fold {} of {}\n", fold, whole.config.outer);
    const run::RunResult result = execute(runtime, request, watch);
    if (result.state == "stopped") return leads ? conclude(result) : kStopped;
    if (!leads) continue;
    if (result.failed > 0 || result.refit_failed) code = kFailedFits;
    run::keep_outer_result(directory, whole.config.outer, fold, result);
  }
  if (!leads) return code;
  const report::RunView view = run::rebuild_report(runtime.registry(), directory);
  if (view.nested) say(stderr, "nested cross-validation: {}\n", report::nested_text(*view.nested));
  return code;
}

// Runs an experiment with its outer folds, and returns the exit code.
int execute_all(Runtime& runtime, const run::RunRequest& request, StopWatch& watch, const StoredRun* stored = nullptr) {
  watch.announce();
  const run::RunResult result = execute(runtime, request, watch, stored);
  const bool leads = runtime.transport().rank() == 0;
  const int code = leads ? conclude(result) : result.state == "stopped" ? kStopped : kDone;
  if (request.config.outer == 0 || request.config.outer_fold > 0 || code == kStopped) return code;
  return std::max(code, run_outer_folds(runtime, request, result.directory, watch));
}

}  // namespace

int run_experiment(Runtime& runtime, const RunOptions& options) {
  StopWatch watch(max_seconds(options));
  if (options.formations && !options.dry_run)
    throw Error(MK_INVALID_ARGUMENT, "--formations only predicts: use it with --dry-run");
  const auto formations =
      options.formations ? inspect::parse_formations(*options.formations) : std::vector<inspect::Formation>();
  run::RunRequest request;
  const auto config = read_config(runtime.trusting_lookup(), options.config, options, request.source_text);
  if (!config) return kUsage;
  if (options.dry_run) {
    std::fputs(inspect::dry_run(runtime.registry(), runtime.log(), *config, formations).c_str(), stderr);
    return kDone;
  }
  request.config = *config;
  request.config.plugin_directories = runtime.named_directories();
  request.command = options.command;
  request.version = kVersion;
  request.fresh = options.fresh;
  request.profile = options.profile;
  return execute_all(runtime, request, watch);
}

int resume_run(Runtime& runtime, const std::string& directory, const RunOptions& options) {
  StopWatch watch(max_seconds(options));
  const StoredRun stored(runtime, directory, options);
  run::RunRequest request;
  request.config = stored.config();
  request.command = options.command;
  request.version = kVersion;
  request.directory = directory;
  return stored.with_devices([&] { return execute_all(runtime, request, watch, &stored); });
}

}  // namespace mokume::app
