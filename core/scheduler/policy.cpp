#include "scheduler/policy.hpp"

#include <algorithm>
#include <utility>

namespace mokume::scheduler {
namespace {

// Ranks the first bundle of a candidate as if it took this many times the estimate, which it may. The earlier its time
// and its chance of a refit are known, the better the plan for the rest becomes.
constexpr double kUnseen = 3;
constexpr uint32_t kNoBootstrap = UINT32_MAX;

}  // namespace

std::vector<double> guesses_of(const Workload& workload) {
  std::vector<double> guesses(workload.positions.size(), 0);
  for (const Bundle& bundle : workload.bundles)
    for (const uint32_t fit : bundle.fits) {
      if (fit >= guesses.size()) guesses.resize(fit + 1, 0);
      guesses[fit] = bundle.cost / static_cast<double>(bundle.fits.size());
    }
  return guesses;
}

Policy::Policy(Workload workload, std::vector<Unit> units)
    : states_(workload.bundles.size()),
      refit_share_(workload.refit_share),
      costs_(workload.positions, guesses_of(workload), {}) {
  bundles_ = std::move(workload.bundles);
  positions_ = std::move(workload.positions);
  uint32_t folds = 1;
  for (const Position& place : positions_) folds = std::max(folds, place.fold + 1);
  contenders_ = Contenders(folds);
  const size_t first_refit = bundles_.size() - workload.refits;
  for (size_t i = 0; i < bundles_.size(); ++i) {
    const std::vector<uint32_t>& fits = bundles_[i].fits;
    const bool placed = i < first_refit && !fits.empty() && fits.front() < positions_.size();
    bootstrap_.push_back(placed ? positions_[fits.front()].bootstrap : kNoBootstrap);
    states_[i].alone = i >= first_refit;
  }
  for (Unit& unit : units) {
    UnitState state;
    state.device_class = class_index(unit.device_class, unit.speed);
    const auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
      return kind.device_class == state.device_class && kind.budget == unit.budget;
    });
    state.kind = static_cast<uint32_t>(same - kinds_.begin());
    if (same == kinds_.end()) kinds_.push_back({state.device_class, unit.budget});
    state.unit = std::move(unit);
    units_.push_back(std::move(state));
  }
  estimate();
}

uint32_t Policy::class_index(const std::string& name, double speed) {
  const auto found = std::find(classes_.begin(), classes_.end(), name);
  if (found != classes_.end()) return static_cast<uint32_t>(found - classes_.begin());
  classes_.push_back(name);
  return costs_.add_class(speed);
}

double Policy::work_of(const Bundle& bundle) const {
  double work = 0;
  for (const uint32_t fit : bundle.fits) work += costs_.work(fit);
  return work;
}

// The report of an unfinished attempt must not raise its own estimate; otherwise the attempt would never be late.
double Policy::work_now(uint32_t bundle) const {
  double work = 0;
  if (states_[bundle].holders == 0) {
    for (const uint32_t fit : bundles_[bundle].fits) work += costs_.work_by_running(fit);
    return work;
  }
  work = work_of(bundles_[bundle]);
  return costs_.has_seen(first_candidate(bundles_[bundle])) ? work : std::max(work, states_[bundle].given_as);
}

void Policy::estimate() {
  std::map<uint32_t, double> refits;  // longest possible refit of each bootstrap
  for (uint32_t i = 0; i < bundles(); ++i) {
    if (!is_over(states_[i])) states_[i].work = work_now(i);
    if (refit_share_ <= 0 || bootstrap_[i] == kNoBootstrap) continue;
    if (!contenders_.may_win(bootstrap_[i], first_candidate(bundles_[i]))) continue;
    double& refit = refits[bootstrap_[i]];
    for (const uint32_t fit : bundles_[i].fits) refit = std::max(refit, refit_share_ * costs_.work(fit));
  }
  std::vector<bool> scouts = tried_;  // candidates that have a scout, or need none
  order_.clear();
  waiting_work_ = 0;
  for (uint32_t i = 0; i < bundles(); ++i) {
    if (is_over(states_[i])) continue;
    const auto refit = refits.find(bootstrap_[i]);
    const uint32_t candidate = first_candidate(bundles_[i]);
    if (candidate >= scouts.size()) scouts.resize(candidate + 1);
    const bool unseen =
        !costs_.has_seen(candidate) || (refit != refits.end() && !contenders_.has_seen(bootstrap_[i], candidate));
    const bool scout = states_[i].waiting && unseen && !scouts[candidate];
    if (scout) scouts[candidate] = true;
    states_[i].rank = states_[i].work * (scout ? kUnseen : 1) + (refit == refits.end() ? 0 : refit->second);
    if (!states_[i].waiting) continue;
    order_.emplace(-states_[i].rank, i);
    waiting_work_ += states_[i].work;
  }
  estimated_ = costs_.version();
  scores_changed_ = false;
  asked_ = 0;
}

void Policy::insert(uint32_t bundle) {
  BundleState& state = states_[bundle];
  if (state.waiting) return;
  state.waiting = true;
  order_.emplace(-state.rank, bundle);
  by_affinity_[bundles_[bundle].affinity].insert(bundle);
  waiting_work_ += state.work;
}

void Policy::remove(uint32_t bundle) {
  BundleState& state = states_[bundle];
  if (!state.waiting) return;
  state.waiting = false;
  order_.erase({-state.rank, bundle});
  by_affinity_[bundles_[bundle].affinity].erase(bundle);
  waiting_work_ -= state.work;
}

void Policy::fill(uint32_t bundle, double cost, uint64_t bytes, uint32_t like) {
  Bundle& refit = bundles_[bundle];
  refit.cost = cost;
  refit.bytes = bytes;
  costs_.replace_fit(refit.fits.front(), like, cost);
  states_[bundle].work = states_[bundle].rank = work_of(refit);
}

void Policy::narrow(uint32_t bundle, const std::vector<uint32_t>& fits) {
  Bundle& whole = bundles_[bundle];
  whole.cost *= static_cast<double>(fits.size()) / static_cast<double>(whole.fits.size());
  whole.fits = fits;
  states_[bundle].work = states_[bundle].rank = work_of(whole);
}

uint32_t Policy::append(Bundle bundle, uint32_t bootstrap) {
  bundles_.push_back(std::move(bundle));
  states_.emplace_back();
  bootstrap_.push_back(bootstrap);
  return bundles() - 1;
}

void Policy::wait(uint32_t bundle) {
  // Estimates skip a bundle that is over, so this forces an update before any work is given.
  if (is_over(states_[bundle])) {
    scores_changed_ = true;
    asked_ = bundles();
  }
  states_[bundle].done = false;
  insert(bundle);
}

void Policy::ended(uint32_t unit, const std::vector<uint32_t>& done, double seconds, double) {
  UnitState& idle = units_[unit];
  std::vector<uint32_t> fits;
  for (const uint32_t i : done) {
    finished(i);
    fits.insert(fits.end(), bundles_[i].fits.begin(), bundles_[i].fits.end());
  }
  for (const uint32_t i : idle.holds) {
    BundleState& state = states_[i];
    --state.holders;
    if (!state.done && state.holders == 0) insert(i);
  }
  // Other units did part of the work of a superfluous unit, so its time does not measure the whole.
  if (!idle.told_superfluous) costs_.observe(idle.device_class, fits, seconds);
  idle.holds.clear();
  idle.busy = false;
}

void Policy::scored(uint32_t fit, double loss) {
  if (refit_share_ <= 0 || fit >= positions_.size()) return;
  contenders_.score(positions_[fit].bootstrap, costs_.candidate(fit), loss);
  scores_changed_ = true;
}

void Policy::finished(uint32_t bundle) {
  remove(bundle);
  states_[bundle].done = true;
  tried(bundle);
}

void Policy::tried(uint32_t bundle) {
  const uint32_t candidate = first_candidate(bundles_[bundle]);
  if (candidate >= tried_.size()) tried_.resize(candidate + 1);
  tried_[candidate] = true;
}

std::vector<uint32_t> Policy::superfluous() {
  std::vector<uint32_t> found;
  for (uint32_t u = 0; u < units_.size(); ++u) {
    UnitState& unit = units_[u];
    if (!unit.busy || unit.told_superfluous) continue;
    const bool all_done =
        std::all_of(unit.holds.begin(), unit.holds.end(), [&](uint32_t i) { return states_[i].done; });
    const bool helped =
        std::any_of(unit.holds.begin(), unit.holds.end(), [&](uint32_t i) { return states_[i].given > 1; });
    if (!all_done || !helped) continue;
    unit.told_superfluous = true;
    found.push_back(u);
  }
  return found;
}

void Policy::teach(const TimedWork& work) {
  costs_.observe(class_index(work.device_class, 0), work.fits, work.seconds);
}

void Policy::retire(uint32_t unit) { units_[unit].retired = true; }
void Policy::readmit(uint32_t unit) { units_[unit].retired = false; }

void Policy::needs_more_than(uint32_t bundle, uint64_t bytes) {
  bundles_[bundle].bytes = std::max(bundles_[bundle].bytes, bytes + 1);
}

std::vector<uint32_t> Policy::unplaceable() const {
  uint64_t largest = 0;
  bool any = false;
  for (const UnitState& unit : units_) {
    if (unit.retired) continue;
    largest = std::max(largest, unit.unit.budget);
    any = true;
  }
  std::vector<uint32_t> found;
  for (const auto& [rank, i] : order_)
    if (!any || bundles_[i].bytes > largest) found.push_back(i);
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<uint32_t> Policy::take_apart(uint32_t bundle, const std::vector<uint32_t>& fits) {
  const Bundle whole = bundles_[bundle];
  finished(bundle);
  std::vector<uint32_t> parts;
  for (const uint32_t fit : fits) {
    const uint32_t part = append(
        {{fit}, whole.cost / static_cast<double>(whole.fits.size()), whole.bytes, whole.affinity}, bootstrap_[bundle]);
    BundleState& state = states_[part];
    state.alone = true;
    state.work = work_of(bundles_[part]);
    state.rank = states_[bundle].rank - states_[bundle].work + state.work;
    parts.push_back(part);
  }
  return parts;
}

double Policy::predicted_seconds(uint32_t bundle, uint32_t unit) const {
  return costs_.knows_seconds() ? work_of(bundles_[bundle]) / speed(unit) : 0;
}

double Policy::speed(uint32_t unit) const { return costs_.speed(units_[unit].device_class); }

}  // namespace mokume::scheduler
