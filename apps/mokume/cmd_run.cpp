// The commands run and resume.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.hpp"
#include "commands.hpp"
#include "frontends.hpp"
#include "inspect/dry_run.hpp"
#include "outcome.hpp"
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

// While this object exists, lines of the log interrupt the display, and are events if these are wanted.
class Attached {
 public:
  Attached(base::Log& log, Progress& progress, Events* events) : log_(log) {
    log.set_around(Progress::before_log, Progress::after_log, &progress);
    if (events != nullptr)
      log.set_listener([events](mk_log_level level, const std::string& line) { events->logged(level, line); });
  }
  ~Attached() {
    log_.set_around(nullptr, nullptr, nullptr);
    log_.set_listener({});
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  base::Log& log_;
};

// Runs with a display. `stored` is the run that is resumed by its directory, or null.
run::RunResult shown_run(Runtime& runtime, const run::RunRequest& request, StopWatch& watch, Talk talk,
                         run::Frontend& frontend, const StoredRun* stored) {
  if (stored != nullptr) {
    stored->warn();
    stored->warn_of_backends();
  }
  if (talk == Talk::verbose) runtime.log().set_level(MK_LOG_INFO);
  if (runtime.transport().rank() != 0) runtime.log().set_level(MK_LOG_ERROR);
  watch.announce();
  try {
    return run::run(runtime.registry(), runtime.log(), runtime.transport(), request, frontend, watch.stop());
  } catch (const Error& error) {
    const std::string cause = error.status() == MK_CANCELLED ? watch.cause() : "";
    if (cause.empty()) throw;
    throw Error(MK_CANCELLED, fmt::format("{}: {}", error.what(), cause));
  }
}

int execute(Runtime& runtime, const run::RunRequest& request, StopWatch& watch, Talk talk,
            const StoredRun* stored = nullptr) {
  const bool leads = runtime.transport().rank() == 0;
  const bool silent = !leads || talk == Talk::quiet || talk == Talk::json;
  Progress progress(isatty(STDERR_FILENO) != 0, silent);
  Terminal terminal(runtime, watch, progress);
  Events events(runtime, watch);
  const bool tells_events = leads && talk == Talk::json;
  run::RunResult result;
  try {
    const Attached attached(runtime.log(), progress, tells_events ? &events : nullptr);
    run::Frontend& frontend = tells_events ? static_cast<run::Frontend&>(events) : terminal;
    result = shown_run(runtime, request, watch, talk, frontend, stored);
  } catch (const std::exception& error) {
    if (tells_events) events.failed(error.what());
    throw;
  }
  std::fputs(result.profile.c_str(), stderr);
  if (!leads) return result.state == "stopped" ? kStopped : kDone;
  if (tells_events) events.summary(result, exit_code(result));
  if (talk != Talk::json) tell(result, talk == Talk::quiet);
  return exit_code(result);
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
  return execute(runtime, request, watch, options.talk());
}

int resume_run(Runtime& runtime, const std::string& directory, const RunOptions& options) {
  StopWatch watch(max_seconds(options));
  const StoredRun stored(runtime, directory, options);
  run::RunRequest request;
  request.config = stored.config();
  request.command = options.command;
  request.directory = directory;
  return stored.with_devices([&] { return execute(runtime, request, watch, options.talk(), &stored); });
}

}  // namespace mokume::app
