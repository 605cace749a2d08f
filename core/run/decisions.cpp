#include "run/decisions.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "results/stats.hpp"

namespace mokume::run {
std::vector<double> chances_of(const search::Plan& plan) {
  std::vector<double> chances;
  if (!plan.decides()) return chances;
  const double trial = static_cast<double>(plan.trials) / plan.candidates_per_bootstrap();
  for (uint32_t fit = 0; fit < plan.n_fits(); ++fit)
    chances.push_back(
        plan.trials > 0 ? trial : static_cast<double>(plan.candidates_in(plan.rung_of(fit))) / plan.n_candidates());
  return chances;
}

Decisions::Decisions(const search::Plan& plan, std::vector<results::Metric> metrics,
                     const std::vector<search::Space>& spaces, uint64_t seed, uint32_t at_once)
    : plan_(plan), metrics_(std::move(metrics)), metric_(results::selecting_metric(metrics_)), at_once_(at_once) {
  for (uint32_t b = 0; plan_.trials > 0 && b < plan_.bootstraps; ++b)
    trials_.push_back({search::TrialChooser(spaces, plan_, b, seed), {}, {}, false});
}

cluster::Decision Decisions::decide(const Records& done) {
  return plan_.trials > 0 ? decide_trials(done) : decide_rungs(done);
}

cluster::Decision Decisions::decide_rungs(const Records& done) const {
  using State = search::InRung::State;
  cluster::Decision decision;
  const uint32_t folds = plan_.folds_each();
  std::vector<search::InRung> before;
  for (uint32_t rung = 0; rung < plan_.rungs(); ++rung) {
    if (rung > 0 && !search::is_complete(before)) break;
    std::vector<search::InRung> now = in_rung(rung, done);
    const std::vector<bool> keeps =
        rung == 0 ? std::vector<bool>(now.size(), true) : search::kept(before, now, plan_.candidates_in(rung));
    for (uint32_t c = 0; c < now.size(); ++c) {
      const uint32_t first = plan_.fit_id(c, 0, rung * folds), next = plan_.fit_id(c, 0, 0) + plan_.folds;
      if (keeps[c])
        for (uint32_t fit = first; fit < first + folds; ++fit) decision.begin.push_back(fit);
      if (keeps[c]) continue;
      for (uint32_t fit = first; fit < next; ++fit)
        if (!done[fit]) decision.dropped.push_back(fit);
      now[c].state = State::dropped;
    }
    before = std::move(now);
  }
  std::sort(decision.dropped.begin(), decision.dropped.end());
  return decision;
}

std::vector<search::InRung> Decisions::in_rung(uint32_t rung, const Records& done) const {
  using State = search::InRung::State;
  const uint32_t folds = plan_.folds_each();
  std::vector<search::InRung> all(plan_.n_candidates());
  for (uint32_t c = 0; c < all.size(); ++c) {
    const uint32_t first = plan_.fit_id(c, 0, rung * folds);
    for (uint32_t fit = first; fit < first + folds; ++fit) {
      if (!done[fit]) continue;
      const bool dropped = done[fit]->status == journal::FitStatus::dropped;
      if (all[c].state != State::begun) all[c].state = dropped ? State::dropped : State::begun;
    }
    if (all[c].state != State::begun) continue;
    const auto loss = mean_loss(first, folds, done);
    if (loss) all[c] = {State::done, *loss};
  }
  return all;
}

cluster::Decision Decisions::decide_trials(const Records& done) {
  cluster::Decision decision;
  for (uint32_t b = 0; b < plan_.bootstraps; ++b) {
    choose_trials(b, done);
    Trials& trials = trials_[b];
    for (const uint32_t candidate : trials.candidates)
      for (uint32_t fold = 0; fold < plan_.folds; ++fold) decision.begin.push_back(plan_.fit_id(candidate, b, fold));
    if (trials.over || trials.candidates.size() < plan_.trials) continue;
    const std::set<uint32_t> chosen(trials.candidates.begin(), trials.candidates.end());
    const uint32_t first = plan_.own_candidates * b;
    for (uint32_t c = first; c < first + plan_.candidates_per_bootstrap(); ++c)
      for (uint32_t fold = 0; chosen.count(c) == 0 && fold < plan_.folds; ++fold)
        if (const uint32_t fit = plan_.fit_id(c, b, fold); !done[fit]) decision.unneeded.push_back(fit);
    trials.over = true;
  }
  return decision;
}

// A trial is chosen by the results of all trials but the last at_once - 1 before it, whatever has arrived earlier, so
// that the choice does not depend on the devices.
void Decisions::choose_trials(uint32_t bootstrap, const Records& done) {
  auto& [chooser, candidates, results, over] = trials_[bootstrap];
  for (;;) {
    while (results.size() < candidates.size()) {
      const auto loss = mean_loss(plan_.fit_id(candidates[results.size()], bootstrap, 0), plan_.folds, done);
      if (!loss) break;
      results.push_back({candidates[results.size()], *loss});
    }
    const size_t next = candidates.size(), at_once = at_once_;
    if (next == plan_.trials || next >= results.size() + at_once) return;
    const auto known = static_cast<std::ptrdiff_t>(next + 1 > at_once ? next + 1 - at_once : 0);
    candidates.push_back(
        chooser.next({results.begin(), results.begin() + known}, {candidates.begin() + known, candidates.end()}));
  }
}

// Returns the mean of `count` fits from `first` on, infinity if one failed, or nothing if one is not done.
std::optional<double> Decisions::mean_loss(uint32_t first, uint32_t count, const Records& done) const {
  std::vector<double> values;
  for (uint32_t fit = first; fit < first + count; ++fit) {
    if (!done[fit]) return std::nullopt;
    if (const auto value = results::value_of(&*done[fit], metric_)) values.push_back(*value);
  }
  if (values.size() < count) return std::numeric_limits<double>::infinity();
  return metrics_[*metric_].loss(results::moments(values).mean);
}

}  // namespace mokume::run
