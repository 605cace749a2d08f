// The commands run and resume.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.hpp"
#include "commands.hpp"
#include "inspect/dry_run.hpp"
#include "outcome.hpp"
#include "progress.hpp"
#include "run/run.hpp"
#include "sdk/error.hpp"
#include "signals.hpp"
#include "stored_run.hpp"

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

// `stored` is the run that is resumed by its directory, or null.
int execute(Runtime& runtime, run::RunRequest& request, StopWatch& watch, const StoredRun* stored = nullptr) {
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

  watch.announce();
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
  if (!leads) return result.state == "stopped" ? kStopped : kDone;
  return conclude(result);
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
  request.fresh = options.fresh;
  request.profile = options.profile;
  return execute(runtime, request, watch);
}

int resume_run(Runtime& runtime, const std::string& directory, const RunOptions& options) {
  StopWatch watch(max_seconds(options));
  const StoredRun stored(runtime, directory, options);
  run::RunRequest request;
  request.config = stored.config();
  request.command = options.command;
  request.directory = directory;
  return stored.with_devices([&] { return execute(runtime, request, watch, &stored); });
}

}  // namespace mokume::app
