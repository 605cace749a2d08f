// Defines how the coordinator handles refits: slots that follow the fits and that fixed rules fill.
#include <utility>

#include "cluster/coordinator/coordinator.hpp"

namespace mokume::cluster {
namespace {

constexpr uint32_t kLastAffinity = UINT32_MAX;  // affinity of the first refit; each has its own, to share no work

}  // namespace

// Adds a bundle for each refit. The bundle is held back until the candidate of the refit is known.
scheduler::Workload Coordinator::with_refits(const PlannedWork& work) {
  scheduler::Workload workload = work.bundles;
  for (uint32_t refit = 0; refit < work.refit_after.size(); ++refit) {
    workload.bundles.push_back({{work.n_fits + refit}, 0, 0, kLastAffinity - refit});
    ++workload.refits;
  }
  return workload;
}

void Coordinator::index_refits() {
  for (uint32_t refit = 0; refit < work_.refit_after.size(); ++refit) {
    fits_before_.push_back(static_cast<uint32_t>(work_.refit_after[refit].size()));
    for (const uint32_t fit : work_.refit_after[refit]) refits_behind_.at(fit).push_back(refit);
    if (fits_before_.back() == 0) ready_.push_back(refit);
  }
}

void Coordinator::note_ready(uint32_t fit) {
  for (const uint32_t refit : refits_behind_[fit])
    if (--fits_before_[refit] == 0) ready_.push_back(refit);
}

void Coordinator::fill_refits() {
  for (const uint32_t refit : std::exchange(ready_, {})) {
    const uint32_t slot = work_.n_fits + refit, bundle = bundle_of_[slot];
    if (done_[slot]) continue;
    std::vector<journal::FitRecord> fits;
    for (const uint32_t fit : work_.refit_after[refit]) fits.push_back(*done_[fit]);
    const Refit chosen = rules_.choose(refit, fits);
    parts_[bundle].held_back = false;
    if (!chosen.candidate) {
      give_up(slot, chosen.why);
      continue;
    }
    refit_of_[refit] = chosen.candidate;
    noted_fits_[refit] = chosen.fits;
    policy_.fill(bundle, chosen.cost, chosen.bytes, chosen.like.value_or(slot));
    failures_.set_candidate(slot, policy_.candidate(slot));
    policy_.wait(bundle);
    placement_changed_ = true;
  }
}

}  // namespace mokume::cluster
