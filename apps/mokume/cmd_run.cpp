// Implements the commands run and resume.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "frontends.hpp"
#include "inspect/dry_run.hpp"
#include "node/splits.hpp"
#include "outcome.hpp"
#include "report/profile.hpp"
#include "results/best.hpp"
#include "results/nested.hpp"
#include "run/learning_curve.hpp"
#include "run/nested.hpp"
#include "run/recorded_run.hpp"
#include "run/run.hpp"
#include "run/view.hpp"
#include "sdk/error.hpp"
#include "signals.hpp"
#include "stored_run.hpp"
#include "takeover.hpp"
#include "terminal.hpp"
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

// While this object exists, log lines interrupt the display, and become events if `events` is set.
class Attached {
 public:
  Attached(base::Log& log, Terminal& terminal, Events* events) : log_(log) {
    log.set_around(Terminal::before_log, Terminal::after_log, &terminal);
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

// Explains how to name the libraries of the run again, because no command reads their directories from the run
// directory.
void tell_libraries(const Runtime& runtime, const std::string& run, bool unfinished) {
  const std::string command = runtime.with_libraries(unfinished ? "resume" : "status", run);
  if (command.empty() || run.empty()) return;
  say(stderr, "this run used your own plugins; {} needs them too: {}\n",
      unfinished ? "resuming it" : "every command on it", command);
}

// Performs a run with a display. `events` is null unless rank 0 prints events. `stored` is the run to resume by its
// directory, or null. Only the result of rank 0 is complete. Throws NeedsLeader if node 0 is lost.
run::RunResult perform(Runtime& runtime, const run::RunRequest& request, StopWatch& watch, Verbosity verbosity,
                       Events* events, const StoredRun* stored = nullptr) {
  const bool silent = runtime.transport().rank() != 0 || verbosity == Verbosity::quiet || verbosity == Verbosity::json;
  Terminal terminal(runtime, watch, silent);
  ProcessFrontend& frontend = events != nullptr ? static_cast<ProcessFrontend&>(*events) : terminal;
  run::RunResult result;
  try {
    const Attached attached(runtime.log(), terminal, events);
    if (request.takeover && !request.takeover->text.empty()) runtime.log().warn("run", request.takeover->text);
    if (stored != nullptr) {
      stored->warn();
      stored->warn_of_backends();
    }
    result = run::run(runtime.registry(), runtime.log(), runtime.transport(), request, frontend, watch.stop());
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const std::string cause = known != nullptr && known->status() == MK_CANCELLED ? watch.cause() : "";
    const bool resumes = known != nullptr && known->status() == MK_STORAGE && !frontend.directory().empty();
    std::string text = cause.empty() ? error.what() : fmt::format("{}: {}", error.what(), cause);
    if (resumes) text += "; the run keeps its finished fits and can be resumed";
    if (events != nullptr) events->failed(text);
    if (runtime.transport().rank() == 0) tell_libraries(runtime, frontend.directory(), true);
    if (resumes) throw Error(MK_STORAGE, text, known->thrown_at());
    if (cause.empty()) throw;
    throw Error(MK_CANCELLED, text);
  }
  if (result.leader_lost) throw NeedsLeader(result.directory, result.reason);
  for (const results::DeviceProfile& profile : result.profiles) show(stderr, report::profile_text(profile));
  return result;
}

// Runs the unfinished outer folds of a nested cross-validation, and returns the exit code.
int run_outer_folds(Runtime& runtime, const run::RunRequest& whole, const std::string& directory, StopWatch& watch,
                    Verbosity verbosity) {
  const bool leads = runtime.transport().rank() == 0;
  const bool told = leads && verbosity != Verbosity::quiet && verbosity != Verbosity::json;
  int code = kDone;
  base::refuse_links({directory, "outer"});
  std::optional<run::DirectoryLock> lock;
  if (leads) {
    base::make_directories({directory, "outer"});
    lock.emplace(directory + "/outer", run::lock_wait(whole, watch.stop()));
  }
  for (uint32_t fold = 1; fold <= whole.config.outer; ++fold) {
    run::RunRequest request = whole;
    request.config = run::outer_config(whole.config, directory, fold);
    request.directory.reset();
    request.fresh = false;
    if (request.takeover) request.takeover->text.clear();  // told before
    if (leads) request.source_text = base::read_file(base::Below{directory, "experiment.toml"}, 1U << 24);
    if (told) say(stderr, "mokume: outer fold {} of {}\n", fold, whole.config.outer);
    run::RunResult result;
    try {
      result = perform(runtime, request, watch, verbosity, nullptr);
    } catch (const NeedsLeader& lost) {
      throw NeedsLeader(directory, lost.what());  // the next attempt begins with the whole run, as the other nodes do
    }
    if (result.state == "stopped" && leads && verbosity != Verbosity::json) tell(result, verbosity == Verbosity::quiet);
    if (result.state == "stopped") return kStopped;
    if (!leads) continue;
    code = std::max(code, exit_code(result));
    run::keep_outer_result(directory, whole.config.outer, fold, result);
  }
  if (!leads) return code;
  const results::RunView view = run::write_tables(runtime.registry(), directory);
  report::write(view, directory);
  if (told && view.nested) say(stderr, "nested cross-validation: {}\n", results::nested_text(view));
  return code;
}

mk_log_level log_level(Verbosity verbosity, bool leads) {
  if (!leads) return MK_LOG_ERROR;
  return verbosity == Verbosity::quiet ? MK_LOG_WARNING : verbosity == Verbosity::verbose ? MK_LOG_INFO : MK_LOG_NOTE;
}

// Performs a run with its outer folds, and returns the exit code. Throws NeedsLeader if node 0 is lost.
int execute_once(Runtime& runtime, const run::RunRequest& request, StopWatch& watch, Verbosity verbosity,
                 const StoredRun* stored) {
  const bool leads = runtime.transport().rank() == 0;
  runtime.log().set_level(log_level(verbosity, leads));
  Events events(runtime, watch);
  const bool tells_events = leads && verbosity == Verbosity::json;
  const run::RunResult result = perform(runtime, request, watch, verbosity, tells_events ? &events : nullptr, stored);
  int code = leads ? exit_code(result) : result.state == "stopped" ? kStopped : kDone;
  if (leads && verbosity != Verbosity::json) tell(result, verbosity == Verbosity::quiet);
  if (request.config.outer > 0 && request.config.outer_fold == 0 && code != kStopped)
    code = std::max(code, run_outer_folds(runtime, request, result.directory, watch, verbosity));
  if (tells_events) events.summary(result, code, runtime.with_libraries("resume", result.directory));
  const bool unfinished = code == kStopped;
  if (leads && verbosity != Verbosity::json && (unfinished || verbosity != Verbosity::quiet))
    tell_libraries(runtime, result.directory, unfinished);
  return code;
}

int execute(Runtime& runtime, const run::RunRequest& request, StopWatch& watch, Verbosity verbosity,
            const StoredRun* stored = nullptr) {
  watch.announce();
  return with_takeover(runtime, request, [&](const run::RunRequest& now) {
    return execute_once(runtime, now, watch, verbosity, stored);
  });
}

// Runs the experiment that measures the learning curve of the run `whole`, and returns the exit code.
int run_curve(Runtime& runtime, run::RunRequest request, const results::RunView& whole, StopWatch& watch,
              const CurveOptions& options, const StoredRun& stored) {
  const bool leads = runtime.transport().rank() == 0;
  const Verbosity verbosity = options.json ? Verbosity::json : options.quiet ? Verbosity::quiet : Verbosity::usual;
  runtime.log().set_level(log_level(verbosity, leads));
  base::refuse_links({options.run, "curve"});
  std::optional<run::DirectoryLock> lock;
  if (leads) {
    base::make_directories({options.run, "curve"});
    lock.emplace(options.run + "/curve", run::lock_wait(request, watch.stop()));
    request.source_text = base::read_file(base::Below{options.run, "experiment.toml"}, 1U << 24);
  }
  const run::RunResult result = perform(runtime, request, watch, verbosity, nullptr, &stored);
  if (!leads) return result.state == "stopped" ? kStopped : kDone;
  if (result.state == "stopped") {
    tell(result, true);
    return kStopped;
  }
  const results::LearningCurve curve =
      run::curve_of(whole, run::read_view(runtime.registry(), result.directory), result.rung_rows);
  run::keep_curve(options.run, curve);
  report::write(run::write_tables(runtime.registry(), options.run), options.run);
  if (options.json) say(stdout, "{}\n", base::to_json(curve));
  for (const results::LearningCurve::Point& one : curve.points)
    if (!options.json)
      say(stdout, "{} rows: {} {} (sd {})\n", one.rows, curve.metric, results::score_text(curve.metric, one.mean),
          results::score_spread(curve.metric, one.sd));
  return exit_code(result);
}

}  // namespace

int measure_curve(Runtime& runtime, const CurveOptions& options) {
  RunOptions run_options;
  run_options.devices = options.devices;
  run_options.max_time = options.max_time;
  StopWatch watch(max_seconds(run_options));
  runtime.watch_stop(watch.stop());
  const StoredRun stored(runtime, options.run, run_options);
  const results::RunView view = run::read_view(runtime.registry(), options.run);
  run::RunRequest request;
  request.command = options.command;
  request.version = kVersion;
  watch.announce();
  const auto measure = [&](uint32_t points) {
    request.config = run::curve_config(stored.config(), view, options.run, points);
    return stored.with_devices([&] {
      return with_takeover(runtime, request, [&](const run::RunRequest& now) {
        return run_curve(runtime, now, view, watch, options, stored);
      });
    });
  };
  // Groups of rows can make folds so unequal that fewer points are possible than the number of rows suggests.
  const config::Config curve = run::curve_config(stored.config(), view, options.run, options.points);
  for (uint32_t points = run::points_of(curve);; --points) {
    try {
      return measure(points);
    } catch (const node::TooFewRows&) {
      if (options.points > 0 || points <= 2) throw;
    }
  }
}

int run_experiment(Runtime& runtime, const RunOptions& options) {
  StopWatch watch(max_seconds(options));
  runtime.watch_stop(watch.stop());
  if (options.formations && !options.dry_run)
    throw Error(MK_INVALID_ARGUMENT, "--formations only predicts: use it with --dry-run");
  const auto formations =
      options.formations ? inspect::parse_formations(*options.formations) : std::vector<inspect::Formation>();
  run::RunRequest request;
  const auto config = read_config(runtime.trusting_lookup(), options.config, options, request.source_text);
  if (!config) return kUsage;
  if (options.dry_run) {
    show(stderr, inspect::dry_run(runtime.registry(), runtime.log(), *config, formations));
    return kDone;
  }
  request.config = *config;
  request.config.plugin_directories = runtime.named_directories();
  request.command = options.command;
  request.version = kVersion;
  request.fresh = options.fresh;
  request.profile = options.profile;
  return execute(runtime, request, watch, options.verbosity());
}

int resume_run(Runtime& runtime, const std::string& directory, const RunOptions& options) {
  StopWatch watch(max_seconds(options));
  runtime.watch_stop(watch.stop());
  const StoredRun stored(runtime, directory, options);
  run::RunRequest request;
  request.config = stored.config();
  request.command = options.command;
  request.version = kVersion;
  request.directory = directory;
  return stored.with_devices([&] { return execute(runtime, request, watch, options.verbosity(), &stored); });
}

}  // namespace mokume::app
