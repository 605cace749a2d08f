#include "run/refit_rules.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "node/models.hpp"
#include "results/stats.hpp"
#include "run/workload.hpp"

namespace mokume::run {
namespace {

std::optional<uint32_t> best_candidate(const node::Experiment& experiment,
                                       const std::vector<journal::FitRecord>& records, uint32_t bootstrap) {
  const auto best = best_row(experiment.plan(), experiment.metrics(), records, bootstrap);
  return best ? std::optional(best->candidate) : std::nullopt;
}

}  // namespace

std::optional<results::CandidateRow> best_row(const search::Plan& plan, const std::vector<results::Metric>& metrics,
                                              const std::vector<journal::FitRecord>& records, uint32_t bootstrap) {
  if (plan.folds == 0) {
    results::CandidateRow only;
    only.candidate = bootstrap * plan.own_candidates;
    return only;
  }
  for (const auto& row : results::summarise(plan, metrics, records))
    if (row.bootstrap == bootstrap && row.complete && row.rank == 1 && row.rung + 1 == plan.rungs()) return row;
  return std::nullopt;
}

std::optional<double> BestCandidates::loss(const journal::FitRecord& fit) const {
  const std::vector<results::Metric> metrics = experiment_.metrics();
  const auto metric = results::selecting_metric(metrics);
  const auto value = results::value_of(&fit, metric);
  return value ? metrics[*metric].loss(*value) : std::numeric_limits<double>::infinity();
}

std::vector<journal::FitRecord> without_dropped(std::vector<journal::FitRecord> records) {
  std::erase_if(records, [](const auto& one) { return one.status == journal::FitStatus::dropped; });
  return records;
}

std::vector<std::vector<uint32_t>> fits_by_bootstrap(const search::Plan& plan) {
  std::vector<std::vector<uint32_t>> fits(plan.n_refits());
  for (uint32_t fit = 0; plan.whole && fit < plan.n_fits(); ++fit) fits[plan.key(fit).bootstrap].push_back(fit);
  return fits;
}

cluster::Refit BestCandidates::choose(uint32_t bootstrap, const std::vector<journal::FitRecord>& fits) {
  cluster::Refit refit;
  refit.candidate = best_candidate(experiment_, fits, bootstrap);
  if (!refit.candidate) {
    refit.why = "no candidate has a result in every fold";
    return refit;
  }
  for (const scheduler::Bundle& bundle : bundles_)
    for (const uint32_t fit : bundle.fits) {
      const search::FitKey key = experiment_.plan().key(fit);
      const bool last_rung = experiment_.plan().rung_of(fit) + 1 == experiment_.plan().rungs();
      if (key.candidate != *refit.candidate || key.bootstrap != bootstrap || !last_rung) continue;
      refit.like = fit;
      refit.fits.push_back(fit);
      refit.cost = refit_factor(experiment_.config()) * bundle.cost / static_cast<double>(bundle.fits.size());
      refit.bytes = std::max(refit.bytes, bundle.bytes);
    }
  std::sort(refit.fits.begin(), refit.fits.end(),
            [&](uint32_t a, uint32_t b) { return experiment_.plan().key(a).fold < experiment_.plan().key(b).fold; });
  return refit;
}

Before done_before(const node::Experiment& experiment, const std::string& run_directory, journal::Contents contents) {
  const search::Plan& plan = experiment.plan();
  Before before;
  for (const auto* records : {&contents.records, &contents.refits, &contents.repeats})
    for (const journal::FitRecord& one : *records)
      before.attempts[one.fit] = std::max(before.attempts[one.fit], one.attempt);
  for (const journal::EventRecord& event : contents.events)
    if (event.fit >= 0) {
      uint32_t& last = before.attempts[static_cast<uint32_t>(event.fit)];
      last = std::max(last, event.attempt);
    }
  std::vector<journal::FitRecord>& done = before.done = std::move(contents.records);
  std::vector<bool> is_done(plan.n_fits());
  for (const journal::FitRecord& fit : done) is_done[fit.fit] = true;
  const auto bootstraps = fits_by_bootstrap(plan);
  for (journal::FitRecord& refit : contents.refits) {
    const uint32_t bootstrap = refit.fit - plan.n_fits();
    const std::vector<uint32_t>& fits = bootstraps[bootstrap];
    const auto n_done = std::count_if(fits.begin(), fits.end(), [&](uint32_t fit) { return is_done[fit]; });
    const bool all = static_cast<uint32_t>(n_done) >= plan.n_recorded() / plan.bootstraps;
    const bool stands = all && journal::has_result(refit.status) &&
                        refit.refit == best_candidate(experiment, done, bootstrap) &&
                        node::has_model(run_directory, plan, refit);
    (stands ? done : before.to_redo).push_back(std::move(refit));
  }
  return before;
}

}  // namespace mokume::run
