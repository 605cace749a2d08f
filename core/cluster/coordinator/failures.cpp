#include "cluster/coordinator/failures.hpp"

#include <algorithm>
#include <iterator>

namespace mokume::cluster {

bool Failures::failed(uint32_t unit, const std::vector<uint32_t>& fits, bool last) {
  FailureStreak& streak = streaks_[unit];
  std::set<uint32_t> candidates;
  for (const uint32_t fit : fits) {
    const uint32_t of = candidate(fit);
    ++streak.counts[fit];
    ++fits_[fit][unit];
    ++by_candidate_[of][unit];
    failed_on_[of].insert(unit);
    candidates.insert(of);
  }
  streak.leases.push_back(std::move(candidates));
  std::set<uint32_t> common;
  uint32_t counted = 0;
  for (const std::set<uint32_t>& lease : streak.leases) {
    if (std::any_of(lease.begin(), lease.end(), [&](uint32_t c) { return failed_elsewhere(c, unit, last); })) continue;
    std::set<uint32_t> still;
    std::set_intersection(common.begin(), common.end(), lease.begin(), lease.end(), std::inserter(still, still.end()));
    if (counted++ == 0) still = lease;
    common = std::move(still);
  }
  return counted > 0 && common.empty();
}

bool Failures::failed_elsewhere(uint32_t candidate, uint32_t unit, bool last) const {
  if (last) return failed_on_.at(candidate).size() > 1;
  const Counts& on = by_candidate_.at(candidate);
  return std::any_of(on.begin(), on.end(), [&](const auto& one) { return one.first != unit; });
}

void Failures::worked(uint32_t unit) { streaks_[unit] = {}; }
void Failures::succeeded(uint32_t fit) { good_.insert(candidate(fit)); }

bool Failures::too_often(uint32_t fit) const {
  const auto found = fits_.find(fit);
  if (found == fits_.end()) return false;
  uint32_t times = 0;
  for (const auto& [unit, count] : found->second) times += count;
  return times >= kMost;
}

bool Failures::proven(uint32_t fit) const {
  const auto found = fits_.find(fit);
  return found != fits_.end() && std::any_of(found->second.begin(), found->second.end(),
                                             [&](const auto& on) { return streaks_[on.first].counts.count(fit) == 0; });
}

bool Failures::has_failed(uint32_t fit) const {
  const auto found = by_candidate_.find(candidate(fit));
  return found != by_candidate_.end() && !found->second.empty();
}

bool Failures::has_failed_on(uint32_t fit, uint32_t unit) const {
  const auto found = by_candidate_.find(candidate(fit));
  return found != by_candidate_.end() && found->second.count(unit) > 0;
}

std::vector<uint32_t> Failures::reinstate(uint32_t unit) {
  const auto subtract = [&](Counts& from, uint32_t count) {
    const auto at = from.find(unit);
    at->second -= count;
    if (at->second == 0) from.erase(at);
  };
  std::vector<uint32_t> reinstated;
  for (const auto& [fit, count] : streaks_[unit].counts) {
    const bool before = too_often(fit);
    subtract(fits_[fit], count);
    subtract(by_candidate_[candidate(fit)], count);
    if (before && !too_often(fit)) reinstated.push_back(fit);
  }
  streaks_[unit] = {};
  return reinstated;
}

}  // namespace mokume::cluster
