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
  if (!rung_of_.empty()) --rung_left_[rung_of_[fit]];
}

// A rung may be done at once, if it has no candidates left.
void Coordinator::open_rungs() {
  while (open_rung_ + 1 < work_.rungs.size() && rung_left_[open_rung_] == 0) open_rung(++open_rung_);
}

bool Coordinator::is_dropped(uint32_t fit) const {
  return done_[fit] && done_[fit]->status == journal::FitStatus::dropped;
}

void Coordinator::open_rung(uint32_t rung) {
  std::vector<journal::FitRecord> fits, known;
  for (const uint32_t fit : work_.rungs[rung - 1]) fits.push_back(*done_[fit]);
  for (const uint32_t fit : work_.rungs[rung])
    if (done_[fit]) known.push_back(*done_[fit]);
  for (const uint32_t fit : rules_.dropped(rung, fits, known))
    if (!done_[fit]) drop(fit);
  for (const uint32_t fit : work_.rungs[rung]) {
    const uint32_t bundle = bundle_of_[fit];
    if (!std::exchange(parts_[bundle].held_back, false)) continue;
    // Fits that an earlier session has computed stay, because the others may use their results.
    std::vector<uint32_t> kept = policy_.bundle(bundle).fits;
    std::erase_if(kept, [&](uint32_t one) { return is_dropped(one); });
    if (!kept.empty()) policy_.narrow(bundle, kept);
    left(kept).empty() ? policy_.finished(bundle) : policy_.wait(bundle);
  }
  placement_changed_ = true;
}

// Records a fit that is not computed. Only the journal needs to know.
void Coordinator::drop(uint32_t fit) {
  journal::FitRecord record;
  record.fit = fit;
  record.status = journal::FitStatus::dropped;
  record.bundle = bundle_of_[fit];
  record.attempt = ++attempts_[fit];  // identifies the record
  record.start_s = record.end_s = now_;
  count(record);
  notify(observers_, &Observer::given_up, record);
}

}  // namespace mokume::cluster
