#include "scheduler/contenders.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mokume::scheduler {

void Contenders::score(uint32_t bootstrap, uint32_t candidate, double loss) {
  if (std::isnan(loss)) loss = std::numeric_limits<double>::infinity();
  Bootstrap& of = bootstraps_[bootstrap];
  const auto [at, is_new] = of.candidates.try_emplace(candidate, Losses{loss, loss, loss, 1});
  if (!is_new) {
    Losses& known = at->second;
    known = {std::min(known.best, loss), std::max(known.worst, loss), known.sum + loss, known.count + 1};
  }
  const auto leader = std::min_element(of.candidates.begin(), of.candidates.end(),
                                       [](const auto& a, const auto& b) { return a.second.mean() < b.second.mean(); });
  of.leader = leader->second;
}

bool Contenders::has_seen(uint32_t bootstrap, uint32_t candidate) const {
  const auto of = bootstraps_.find(bootstrap);
  return of != bootstraps_.end() && of->second.candidates.count(candidate) != 0;
}

bool Contenders::may_win(uint32_t bootstrap, uint32_t candidate) const {
  const auto of = bootstraps_.find(bootstrap);
  if (of == bootstraps_.end()) return true;
  const auto known = of->second.candidates.find(candidate);
  if (known == of->second.candidates.end()) return true;
  const Losses &one = known->second, &leader = of->second.leader;
  if (one.mean() == leader.mean()) return true;  // holds even if all fits failed
  const bool settled = one.count >= folds_ && leader.count >= folds_;
  return !settled && one.best <= leader.worst;
}

}  // namespace mokume::scheduler
