#include "run/result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "node/candidate_text.hpp"
#include "results/cautions.hpp"
#include "results/format.hpp"
#include "results/stats.hpp"
#include "run/refit_rules.hpp"
#include "run/run_directory.hpp"
#include "run/view.hpp"

namespace mokume::run {
namespace {

bool has_failed(const journal::FitRecord& record) { return record.status == journal::FitStatus::failed; }

}  // namespace

void tell_failures(const search::Plan& plan, const std::vector<journal::FitRecord>& records,
                   const std::vector<journal::FitRecord>& refits, RunResult& result) {
  result.failed = static_cast<uint64_t>(std::count_if(records.begin(), records.end(), has_failed));
  if (const auto first = std::find_if(records.begin(), records.end(), has_failed); first != records.end())
    result.failure = fmt::format("{} failed: {}{}", results::fit_name(plan, first->fit), first->note,
                                 result.failed > 1 ? fmt::format(" (and {} more)", result.failed - 1) : "");
  const bool bagging = plan.bootstraps > 1;
  uint32_t failed = 0;
  for (const journal::FitRecord& refit : refits) {
    // The failed fits already explain a single refit without a candidate.
    if (!has_failed(refit) || (!refit.refit && !bagging && result.failed > 0)) continue;
    if (failed++ == 0) result.reason = fmt::format("{} failed: {}", results::fit_name(plan, refit.fit), refit.note);
  }
  if (failed > 1) result.reason += fmt::format(" (and {} more)", failed - 1);
  result.refit_failed = failed > 0;
}

void tell_best(const search::Plan& plan, const std::vector<results::Metric>& metrics,
               const std::vector<journal::FitRecord>& records, RunResult& result) {
  if (plan.bootstraps > 1) return;
  const auto best = best_row(plan, metrics, records, 0);
  if (!best) return;
  result.best = node::candidate_text(plan, best->candidate);
  result.folds = plan.folds_in_rung();
  for (const results::Metric& metric : metrics)
    if (best->complete && metric.selects && result.metric.empty()) result.metric = metric.name;
  result.best_mean = best->mean;
  result.best_sd = best->sd;
  for (const size_t m : results::other_metrics(metrics))
    if (m < best->each.size() && best->each[m] && data::find_measure(metrics[m].name) != nullptr)
      result.scores.push_back({metrics[m].name, best->each[m]->mean, best->each[m]->sd});
}

void tell_tests(const results::RunView& view, RunResult& result) {
  result.test = view.test;
  result.validated = view.validated;
  if (result.state != "stopped") result.cautions = results::cautions(view);
  if (view.plan.bootstraps == 1) return;
  result.members = view.plan.bootstraps;
  for (const journal::FitRecord& refit : view.refits)
    if (const auto test = results::test_of(refit, view.data_classes)) result.member_tests.push_back(*test);
}

RunResult earlier_result(registry::Registry& registry, const std::string& directory) {
  const results::RunView view = read_view(registry, directory);
  RunResult result;
  result.directory = directory;
  result.state = view.state;
  result.reproducibility = read_run_record(directory).environment.reproducibility;
  result.earlier_end_s = 0;
  for (const journal::FitRecord& record : results::all_work(view))
    result.earlier_end_s = std::max(*result.earlier_end_s, record.end_s);
  tell_failures(view.plan, view.records, view.refits, result);
  tell_best(view.plan, view.metrics, view.records, result);
  tell_tests(view, result);
  return result;
}

}  // namespace mokume::run
