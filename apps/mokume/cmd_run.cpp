// The commands run, resume and check, for experiments.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/files.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "inspect/dry_run.hpp"
#include "progress.hpp"
#include "report/tables/format.hpp"
#include "report/tables/stats.hpp"
#include "run/run.hpp"
#include "sdk/error.hpp"
#include "signals.hpp"
#include "stored_run.hpp"

namespace mokume::app {
namespace {

// Returns the TOML text of a command-line value that is a string.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Returns the --set texts, followed by the options that abbreviate one. `names` gets the names of those options.
std::vector<std::string> all_sets(const RunOptions& options, std::vector<std::string>& names) {
  std::vector<std::string> sets = options.sets;
  const auto add = [&](const char* name, const char* key, const std::optional<std::string>& value) {
    if (!value) return;
    sets.push_back(key + ("=" + quoted(*value)));
    names.emplace_back(name);
  };
  add("--devices", "devices.use", options.devices);
  add("--out", "output.directory", options.out);
  add("--seed", "seed", options.seed);
  return sets;
}

// Returns whether --set names all library directories, so that none comes from the file.
bool names_plugins(const std::vector<std::string>& sets) {
  return std::any_of(sets.begin(), sets.end(), [](const std::string& set) {
    const std::string key = base::trim(set.substr(0, set.find('=')));
    return key == "plugins" || key == "plugins.directories";
  });
}

std::optional<double> max_seconds(const RunOptions& options) {
  if (!options.max_time) return std::nullopt;
  const auto seconds = base::parse_duration(*options.max_time);
  if (!seconds)
    throw Error(MK_INVALID_ARGUMENT,
                "--max-time " + *options.max_time + " is not a duration: write 11h30m, 45m or 90s");
  return seconds;
}

// Prints the members' individual results on the test rows.
void tell_members(const run::RunResult& result) {
  const bool numbers = result.member_tests.front().mse.has_value();
  std::vector<double> each;
  for (const report::TestResult& test : result.member_tests)
    each.push_back(test.mse ? *test.mse : 100 * static_cast<double>(test.errors) / static_cast<double>(test.n));
  std::sort(each.begin(), each.end());
  const double median = report::quantile(each, 0.5);
  const std::string members = each.size() < result.members ? fmt::format("{} of {}", each.size(), result.members)
                                                           : fmt::format("{}", each.size());
  const char* together = !result.test ? "" : numbers ? "; their mean:" : "; their vote:";
  if (numbers)
    say(stderr, "{} members, test mse {:.6g} to {:.6g}, median {:.6g}{}\n", members, each.front(), each.back(), median,
        together);
  else
    say(stderr, "{} members, test error {:.3f} to {:.3f} %, median {:.3f} %{}\n", members, each.front(), each.back(),
        median, together);
}

// Prints the outcome of a finished run.
int conclude(const run::RunResult& result) {
  const std::string report = result.directory + "/report.html";
  if (!result.best.empty()) {
    std::fprintf(stderr, "best candidate: %s\n", result.best.c_str());
    // A single fold has no spread.
    const std::string how = result.folds > 1 ? "cross-validation" : "validation";
    const bool share = result.metric == "error";
    const std::string spread = result.folds <= 1 ? ""
                               : share           ? fmt::format(" (sd {:.3f})", 100 * result.best_sd)
                                                 : fmt::format(" (sd {:.3g})", result.best_sd);
    if (share) {
      say(stderr, "{} error: {:.3f} %{}\n", how, 100 * result.best_mean, spread);
    } else if (!result.metric.empty()) {
      say(stderr, "{} {}: {:.6g}{}\n", how, result.metric, result.best_mean, spread);
    }
  }
  if (!result.member_tests.empty()) tell_members(result);
  if (result.test && result.test->mse)
    std::fprintf(stderr, "test mse: %.6g (%lld rows)\n", *result.test->mse, static_cast<long long>(result.test->n));
  if (result.test && !result.test->mse)
    std::fprintf(stderr, "test error: %.3f %% (%lld of %lld)\n",
                 100.0 * static_cast<double>(result.test->errors) / static_cast<double>(result.test->n),
                 static_cast<long long>(result.test->errors), static_cast<long long>(result.test->n));
  for (const std::string& caution : result.cautions) say(stderr, "warning: {}\n", caution);
  if (!result.reproducibility.empty()) std::fprintf(stderr, "reproducible: %s\n", result.reproducibility.c_str());
  std::fprintf(stderr, "report: %s\n", report.c_str());
  if (result.state == "stopped") {
    std::fprintf(stderr, "stopped (%s); the same command resumes it\n",
                 result.reason.empty() ? "asked to" : result.reason.c_str());
    return kStopped;
  }
  if (result.refit_failed) std::fprintf(stderr, "%s\n", result.reason.c_str());
  if (result.failed > 0) {
    say(stderr, "{} failed; the report shows why\n", report::counted(result.failed, "fit"));
    return kFailedFits;
  }
  return result.refit_failed ? kFailedFits : kDone;
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

std::optional<config::Config> read_config(const config::SchemaLookup& lookup, const std::string& path,
                                          const RunOptions& options, std::string& text, config::Origin origin) {
  try {
    text = base::read_file(path, 1U << 21);
  } catch (const Error& e) {
    throw Error(MK_INVALID_ARGUMENT, e.what());  // a missing experiment file is a usage error
  }
  std::vector<std::string> names;
  const std::vector<std::string> sets = all_sets(options, names);
  config::ParseResult parsed = config::parse(text, path, sets, lookup, origin);
  for (config::Diagnostic& d : parsed.diagnostics)
    if (d.set > options.sets.size()) d.file = names[d.set - options.sets.size() - 1];
  std::fputs(config::render_all(parsed.diagnostics, text, sets).c_str(), stderr);
  if (!parsed.config && parsed.diagnostics.size() > 1)
    std::fprintf(stderr, "%zu errors in %s\n", parsed.diagnostics.size(), path.c_str());
  return parsed.config;
}

int check_config(Runtime& runtime, const RunOptions& options) {
  std::string text;
  WaryLookup wary(runtime);
  const bool trusts = names_plugins(options.sets);
  const auto config = read_config(trusts ? runtime.trusting_lookup() : wary.function(), options.config, options, text);
  std::string told;
  if (!wary.unsearched().empty()) {
    std::vector<std::string> names;
    for (const std::string& directory : wary.unsearched()) names.push_back(shown(directory));
    told =
        fmt::format("check loads nothing from directories that the file names ({}) unless the command names them: {}",
                    fmt::join(names, ", "), runtime.command().with_plugins(wary.unsearched()));
  }
  if (wary.missing() && !told.empty())
    say(stderr, "{}: the keys of the model '{}' are not checked: {}\n", options.config, wary.model(), told);
  if (!config) return kUsage;
  if (told.empty()) inspect::check_start(runtime.registry(), runtime.log(), *config);
  say(stderr, "{}: ok{}\n", options.config, told.empty() ? "" : "; " + told);
  return kDone;
}

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
