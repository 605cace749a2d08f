#include "run/stages.hpp"

#include <algorithm>
#include <limits>

#include "results/stats.hpp"

namespace mokume::run {
namespace {

bool are_done(const std::vector<uint32_t>& fits, const Stages::Records& done) {
  return std::all_of(fits.begin(), fits.end(), [&](uint32_t fit) { return done[fit].has_value(); });
}

}  // namespace

std::vector<std::vector<uint32_t>> fits_by_stage(const search::Plan& plan) {
  if (!plan.decides()) return {};
  std::vector<std::vector<uint32_t>> fits(plan.n_stages());
  for (uint32_t fit = 0; fit < plan.n_fits(); ++fit) fits[plan.stage_of(fit)].push_back(fit);
  return fits;
}

std::vector<double> chances_of(const search::Plan& plan) {
  std::vector<double> chances;
  if (!plan.decides()) return chances;
  const double trial = static_cast<double>(plan.trials) / plan.candidates_per_bootstrap();
  for (uint32_t fit = 0; fit < plan.n_fits(); ++fit)
    chances.push_back(plan.trials > 0 ? trial
                                      : static_cast<double>(plan.candidates_in(plan.rung_of(fit))) /
                                            plan.n_candidates());
  return chances;
}

Stages::Stages(const node::Experiment& experiment) : experiment_(experiment) {
  for (uint32_t b = 0; plan().trials > 0 && b < plan().bootstraps; ++b)
    trials_.push_back({search::TrialChooser(experiment.config().spaces, plan(), b, experiment.config().seed), {}, {}, {}});
}

cluster::Decision Stages::decide(const Records& done) {
  return plan().trials > 0 ? decide_trials(done) : decide_rungs(done);
}

cluster::Decision Stages::decide_rungs(const Records& done) const {
  cluster::Decision decision;
  const std::vector<std::vector<uint32_t>> rungs = fits_by_stage(plan());
  for (uint32_t rung = 0; rung < rungs.size(); ++rung) {
    if (rung > 0 && !are_done(rungs[rung - 1], done)) break;
    if (rung > 0)
      for (const uint32_t fit : dropped(rung, done)) decision.dropped.push_back(fit);
    decision.open.push_back(rung);
  }
  return decision;
}

// Keeps the candidates with the best means in the rung before, as Jamieson and Talwalkar do (AISTATS 2016).
std::vector<uint32_t> Stages::dropped(uint32_t rung, const Records& done) const {
  std::vector<journal::FitRecord> before;
  std::set<uint32_t> out, kept;
  for (uint32_t fit = 0; fit < plan().n_fits(); ++fit) {
    if (!done[fit]) continue;
    if (plan().rung_of(fit) + 1 == rung) before.push_back(*done[fit]);
    if (plan().rung_of(fit) == rung)
      (done[fit]->status == journal::FitStatus::dropped ? out : kept).insert(plan().key(fit).candidate);
  }
  std::vector<results::CandidateRow> rows = results::summarise(plan(), experiment_.metrics(), before);
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  for (const results::CandidateRow& row : rows) {
    const bool may_stay = row.rung + 1 == rung && row.complete && out.count(row.candidate) == 0;
    if (may_stay && kept.size() < plan().candidates_in(rung)) kept.insert(row.candidate);
  }
  std::vector<uint32_t> dropped;
  for (const results::CandidateRow& row : rows)
    for (uint32_t fold = rung * plan().folds_each(); kept.count(row.candidate) == 0 && fold < plan().folds; ++fold)
      dropped.push_back(plan().fit_id(row.candidate, row.bootstrap, fold));
  std::sort(dropped.begin(), dropped.end());
  return dropped;
}

cluster::Decision Stages::decide_trials(const Records& done) {
  cluster::Decision decision;
  for (uint32_t b = 0; b < plan().bootstraps; ++b) {
    choose_trials(b, done);
    const Trials& trials = trials_[b];
    for (const uint32_t candidate : trials.candidates) decision.open.push_back(plan().stage_of(plan().fit_id(candidate, b, 0)));
    if (trials.candidates.size() < plan().trials) continue;
    for (uint32_t c = 0; c < plan().n_candidates(); ++c) {
      const bool needed = !plan().has(c, b) || trials.chosen.count(c) > 0;
      for (uint32_t fold = 0; !needed && fold < plan().folds; ++fold)
        if (const uint32_t fit = plan().fit_id(c, b, fold); !done[fit]) decision.unneeded.push_back(fit);
    }
  }
  return decision;
}

// A trial is chosen by the results of all trials but the last at_once - 1 before it, whatever has arrived earlier, so
// that the choice does not depend on the devices.
void Stages::choose_trials(uint32_t bootstrap, const Records& done) {
  auto& [chooser, candidates, chosen, results] = trials_[bootstrap];
  for (;;) {
    while (results.size() < candidates.size()) {
      const auto loss = loss_of(candidates[results.size()], bootstrap, done);
      if (!loss) break;
      results.push_back({candidates[results.size()], *loss});
    }
    const size_t next = candidates.size(), at_once = experiment_.config().at_once;
    if (next == plan().trials || next >= results.size() + at_once) return;
    const auto known = static_cast<std::ptrdiff_t>(next + 1 > at_once ? next + 1 - at_once : 0);
    candidates.push_back(chooser.next({results.begin(), results.begin() + known},
                                      {candidates.begin() + known, candidates.end()}));
    chosen.insert(candidates.back());
  }
}

// Returns the mean over the folds, infinity if a fit failed, or nothing if a fit is not done.
std::optional<double> Stages::loss_of(uint32_t candidate, uint32_t bootstrap, const Records& done) const {
  std::vector<double> values;
  const std::vector<results::Metric> metrics = experiment_.metrics();
  const auto metric = results::selecting_metric(metrics);
  for (uint32_t fold = 0; fold < plan().folds; ++fold) {
    const auto& record = done[plan().fit_id(candidate, bootstrap, fold)];
    if (!record) return std::nullopt;
    if (const auto value = results::value_of(&*record, metric)) values.push_back(*value);
  }
  if (values.size() < plan().folds) return std::numeric_limits<double>::infinity();
  return metrics[*metric].loss(results::moments(values).mean);
}

}  // namespace mokume::run
