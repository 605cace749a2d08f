#include "search/halving.hpp"

#include <algorithm>
#include <cmath>

namespace mokume::search {

bool is_complete(const std::vector<InRung>& rung) {
  using State = InRung::State;
  return std::all_of(rung.begin(), rung.end(), [](const InRung& candidate) {
    return candidate.state == State::done || candidate.state == State::dropped;
  });
}

std::vector<bool> kept(const std::vector<InRung>& before, const std::vector<InRung>& now, size_t most) {
  using State = InRung::State;
  std::vector<bool> keeps(before.size());
  std::vector<size_t> rivals;
  for (size_t c = 0; c < before.size(); ++c) {
    keeps[c] = now[c].state == State::begun || now[c].state == State::done;
    const bool has_loss = before[c].state == State::done && std::isfinite(before[c].loss);
    if (now[c].state == State::pending && has_loss) rivals.push_back(c);
  }
  std::stable_sort(rivals.begin(), rivals.end(), [&](size_t a, size_t b) { return before[a].loss < before[b].loss; });
  const auto n_kept = static_cast<size_t>(std::count(keeps.begin(), keeps.end(), true));
  for (size_t rank = 0; rank < rivals.size() && n_kept + rank < most; ++rank) keeps[rivals[rank]] = true;
  return keeps;
}

}  // namespace mokume::search
