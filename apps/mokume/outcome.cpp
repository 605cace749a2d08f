#include "outcome.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/plural.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "inspect/inspect.hpp"
#include "results/best.hpp"
#include "results/class_scores.hpp"
#include "results/stats.hpp"

namespace mokume::app {
namespace {

// Reports that nothing was computed, and why.
void tell_earlier(const std::string& directory, double end_s) {
  // The time is unusable if the run has no fits or the clock was wrong.
  std::string when;
  if (end_s > 0)
    when = fmt::format(" on {:%Y-%m-%d at %H:%M:%S} ({} ago)", fmt::localtime(static_cast<std::time_t>(end_s)),
                       base::human_seconds(std::max(0.0, base::wall_s() - end_s)));
  say(stderr, "mokume: {} finished{}, and nothing is left to compute; --fresh starts another run\n", directory, when);
}

std::string rows(int64_t count) { return base::counted(static_cast<uint64_t>(std::max<int64_t>(0, count)), "row"); }

void tell_members(const run::RunResult& result) {
  const bool numbers = result.member_tests.front().mse.has_value();
  const std::string metric = numbers ? "mse" : "error";
  std::vector<double> each;
  for (const results::TestResult& test : result.member_tests) each.push_back(test.value());
  std::sort(each.begin(), each.end());
  const std::string members = each.size() < result.members
                                  ? fmt::format("{} of {} members", each.size(), result.members)
                                  : base::counted(each.size(), "member");
  const auto text = [&](double value) { return results::score_text(metric, value); };
  say(stderr, "{}, test {} {} to {}, median {}{}\n", members, metric, text(each.front()), text(each.back()),
      text(results::quantile(each, 0.5)),
      !result.test ? ""
      : numbers    ? "; their mean:"
                   : "; their vote:");
}

void tell_score(const run::RunResult& result) {
  if (!result.best.empty()) say(stderr, "best candidate: {}\n", result.best);
  if (result.metric.empty()) return;
  const auto tell = [&](const std::string& metric, double mean, double sd) {
    // A single fold has no spread.
    const std::string spread = result.folds <= 1 ? "" : fmt::format(" (sd {})", results::score_spread(metric, sd));
    say(stderr, "{} {}: {}{}\n", result.folds > 1 ? "cross-validation" : "validation", metric,
        results::score_text(metric, mean), spread);
  };
  tell(result.metric, result.best_mean, result.best_sd);
  for (const run::RunResult::Score& one : result.scores) tell(one.metric, one.mean, one.sd);
}

void tell_validated(const results::TestResult& pooled) {
  const std::string measures = results::measures_text(pooled);
  if (pooled.mse) return say(stderr, "validated rows: {}\n", measures);
  const results::Interval interval = results::interval_of(pooled);
  say(stderr, "validated rows: {} of {} wrong, 95 % interval {:.2f} to {:.2f} %; {}\n", pooled.errors, pooled.n,
      100 * interval.low, 100 * interval.high, measures);
}

void tell_test(const results::TestResult& test) {
  if (test.mse)
    say(stderr, "test mse: {} ({})\n", results::score_text("mse", *test.mse), rows(test.n));
  else
    say(stderr, "test error: {} ({} of {})\n", results::score_text("error", test.value()), test.errors, test.n);
  if (const std::string measures = results::measures_text(test); !measures.empty()) say(stderr, "test {}\n", measures);
}

}  // namespace

int exit_code(const run::RunResult& result) {
  if (result.state == "stopped") return kStopped;
  return result.failed > 0 || result.refit_failed ? kFailedFits : kDone;
}

void tell(const run::RunResult& result, bool quiet) {
  if (!quiet) {
    if (result.earlier_end_s) tell_earlier(result.directory, *result.earlier_end_s);
    tell_score(result);
    if (result.validated && !result.test) tell_validated(*result.validated);
    if (!result.member_tests.empty()) tell_members(result);
    if (result.test) tell_test(*result.test);
  }
  for (const std::string& caution : result.cautions) say(stderr, "warning: {}\n", caution);
  if (!quiet && !result.reproducibility.empty()) say(stderr, "reproducible: {}\n", result.reproducibility);
  if (!quiet) say(stderr, "report: {}/report.html\n", result.directory);
  if (result.state == "stopped") {
    say(stderr, "{}; the same command resumes it\n", inspect::stop_text(result.reason));
    return;
  }
  if (result.refit_failed) say(stderr, "{}\n", result.reason);
  if (!result.failure.empty()) say(stderr, "{}\n", result.failure);
  if (result.failed > 0) say(stderr, "{} failed; the report shows why\n", base::counted(result.failed, "fit"));
}

}  // namespace mokume::app
