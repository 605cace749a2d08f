// Defines how the coordinator handles successive halving: the rungs of a plan, of which each begins when the one before
// is done, with the candidates that the rules keep.
#include <algorithm>
#include <utility>

#include "cluster/coordinator/coordinator.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {

void Coordinator::index_rungs() {
  if (work_.rungs.empty()) return;
  rung_of_.assign(work_.n_fits, 0);
  for (uint32_t rung = 0; rung < work_.rungs.size(); ++rung) {
    for (const uint32_t fit : work_.rungs[rung]) rung_of_.at(fit) = rung;
    rung_left_.push_back(static_cast<uint32_t>(work_.rungs[rung].size()));
  }
}

bool Coordinator::waits_for_rung(uint32_t bundle) const {
  const std::vector<uint32_t>& fits = policy_.bundle(bundle).fits;
  const auto later = [&](uint32_t fit) { return fit < rung_of_.size() && rung_of_[fit] > 0; };
  const bool waits = std::any_of(fits.begin(), fits.end(), later);
  if (waits && !std::all_of(fits.begin(), fits.end(), [&](uint32_t fit) { return rung_of_[fit] == rung_of_[fits[0]]; }))
    throw Error(MK_INTERNAL, "a bundle holds fits of several rungs");
  return waits;
}

void Coordinator::note_rung(uint32_t fit) {
  if (!rung_of_.empty() && --rung_left_[rung_of_[fit]] == 0) done_rungs_.push_back(rung_of_[fit]);
}

// A rung may be done at once, if it has no candidates left.
void Coordinator::open_rungs() {
  while (!done_rungs_.empty()) {
    const auto first = std::min_element(done_rungs_.begin(), done_rungs_.end());
    const uint32_t rung = *first;
    done_rungs_.erase(first);
    if (rung + 1 < work_.rungs.size()) open_rung(rung + 1);
  }
}

void Coordinator::open_rung(uint32_t rung) {
  std::vector<journal::FitRecord> fits;
  for (const uint32_t fit : work_.rungs[rung - 1]) fits.push_back(*done_[fit]);
  for (const uint32_t fit : rules_.dropped(rung, fits))
    if (!done_[fit]) drop(fit);
  for (const uint32_t fit : work_.rungs[rung]) {
    const uint32_t bundle = bundle_of_[fit];
    if (!std::exchange(parts_[bundle].held_back, false)) continue;
    const std::vector<uint32_t> kept = left(policy_.bundle(bundle).fits);
    if (kept.empty()) {
      policy_.finished(bundle);
    } else {
      policy_.narrow(bundle, kept);
      policy_.wait(bundle);
    }
  }
  placement_changed_ = true;
}

void Coordinator::drop(uint32_t fit) {
  journal::FitRecord record;
  record.fit = fit;
  record.status = journal::FitStatus::dropped;
  record.bundle = bundle_of_[fit];
  record.attempt = ++attempts_[fit];  // identifies the record
  record.start_s = record.end_s = now_;
  count(record);
  notify(observers_, &Observer::given_up, record);
  notify(observers_, &Observer::fit_done, record);
}

}  // namespace mokume::cluster
