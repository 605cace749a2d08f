#include "cluster/failures.hpp"

#include <algorithm>

namespace mokume::cluster {

bool Failures::failed(uint32_t unit, const std::vector<uint32_t>& fits) {
  Suspect& suspect = suspects_[unit];
  std::set<uint32_t> common;
  for (const uint32_t fit : fits) {
    ++suspect.counts[fit];
    ++fits_[fit][unit];
    if (suspect.leases == 0 || suspect.in_all.count(fit) > 0) common.insert(fit);
  }
  ++suspect.leases;
  suspect.in_all = std::move(common);
  return suspect.in_all.empty();
}

void Failures::worked(uint32_t unit) { suspects_[unit] = {}; }

bool Failures::too_often(uint32_t fit) const {
  const auto found = fits_.find(fit);
  if (found == fits_.end()) return false;
  uint32_t times = 0;
  for (const auto& [unit, count] : found->second) times += count;
  return times >= k_most;
}

bool Failures::proven(uint32_t fit) const {
  const auto found = fits_.find(fit);
  return found != fits_.end() && std::any_of(found->second.begin(), found->second.end(), [&](const auto& on) {
           return suspects_[on.first].counts.count(fit) == 0;
         });
}

std::vector<uint32_t> Failures::forgive(uint32_t unit) {
  std::vector<uint32_t> forgiven;
  for (const auto& [fit, count] : suspects_[unit].counts) {
    const bool before = too_often(fit);
    auto& on = fits_[fit];
    on[unit] -= count;
    if (on[unit] == 0) on.erase(unit);
    if (before && !too_often(fit)) forgiven.push_back(fit);
  }
  suspects_[unit] = {};
  return forgiven;
}

}  // namespace mokume::cluster
