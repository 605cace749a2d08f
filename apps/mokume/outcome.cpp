#include "outcome.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "report/tables/class_scores.hpp"
#include "report/tables/format.hpp"
#include "report/tables/stats.hpp"

namespace mokume::app {
namespace {

// Says that nothing was computed, and why.
void tell_earlier(const std::string& directory, double end_s) {
  // A run without fits or an old clock has no usable time.
  std::string when;
  if (end_s > 0)
    when = fmt::format(" on {:%Y-%m-%d at %H:%M:%S} ({} ago)", fmt::localtime(static_cast<std::time_t>(end_s)),
                       base::human_seconds(std::max(0.0, base::wall_s() - end_s)));
  say(stderr, "mokume: {} finished{}, and nothing is left to compute; --fresh starts another run\n", directory, when);
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

}  // namespace

int conclude(const run::RunResult& result) {
  const std::string report = result.directory + "/report.html";
  if (result.earlier_end_s) tell_earlier(result.directory, *result.earlier_end_s);
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
  if (const std::string measures = result.test ? report::measures_text(*result.test) : ""; !measures.empty())
    say(stderr, "test {}\n", measures);
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

}  // namespace mokume::app
