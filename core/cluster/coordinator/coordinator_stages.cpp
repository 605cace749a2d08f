// Defines how the coordinator handles a search that decides by results what is computed: its stages, each of which
// begins when the rules open it.
#include <algorithm>
#include <utility>

#include "cluster/coordinator/coordinator.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {

void Coordinator::index_stages() {
  if (work_.stages.empty()) return;
  stage_of_.assign(work_.n_fits, 0);
  for (uint32_t stage = 0; stage < work_.stages.size(); ++stage) {
    for (const uint32_t fit : work_.stages[stage]) stage_of_.at(fit) = stage;
    stage_left_.push_back(static_cast<uint32_t>(work_.stages[stage].size()));
  }
  decides_ = true;
}

bool Coordinator::waits_for_stage(uint32_t bundle) const {
  const std::vector<uint32_t>& fits = policy_.bundle(bundle).fits;
  if (stage_of_.empty() || fits.front() >= stage_of_.size()) return false;
  if (!std::all_of(fits.begin(), fits.end(), [&](uint32_t fit) { return stage_of_[fit] == stage_of_[fits[0]]; }))
    throw Error(MK_INTERNAL, "a bundle holds fits of several stages");
  return true;
}

void Coordinator::note_stage(uint32_t fit) {
  if (!stage_of_.empty() && --stage_left_[stage_of_[fit]] == 0) decides_ = true;
}

// The first tick opens stages that need a decision which the journal must record.
void Coordinator::open_first_stages() {
  if (work_.stages.empty()) return;
  const Decision decision = rules_.decide(done_);
  if (std::all_of(decision.dropped.begin(), decision.dropped.end(), [&](uint32_t fit) { return done_[fit]; }))
    for (const uint32_t stage : decision.open) open_stage(stage);
}

// A stage may be done as soon as it begins, if nothing of it is left.
void Coordinator::open_stages() {
  while (std::exchange(decides_, false)) {
    const Decision decision = rules_.decide(done_);
    for (const uint32_t fit : decision.dropped)
      if (!done_[fit]) drop(fit, true);
    for (const uint32_t fit : decision.unneeded)
      if (!done_[fit]) drop(fit, false);
    for (const uint32_t stage : decision.open) open_stage(stage);
  }
}

bool Coordinator::is_dropped(uint32_t fit) const {
  return done_[fit] && done_[fit]->status == journal::FitStatus::dropped;
}

void Coordinator::open_stage(uint32_t stage) {
  for (const uint32_t fit : work_.stages[stage]) {
    const uint32_t bundle = bundle_of_[fit];
    if (!std::exchange(parts_[bundle].held_back, false)) continue;
    // Fits that an earlier session has computed stay, because the others may use their results.
    std::vector<uint32_t> kept = policy_.bundle(bundle).fits;
    std::erase_if(kept, [&](uint32_t one) { return is_dropped(one); });
    if (!kept.empty()) policy_.narrow(bundle, kept);
    left(kept).empty() ? policy_.finished(bundle) : policy_.wait(bundle);
    placement_changed_ = true;
  }
}

// Notes that a fit is not computed. Only the journal needs to know, and only if results alone do not show it.
void Coordinator::drop(uint32_t fit, bool recorded) {
  journal::FitRecord record;
  record.fit = fit;
  record.status = journal::FitStatus::dropped;
  record.bundle = bundle_of_[fit];
  record.attempt = ++attempts_[fit];  // identifies the record
  record.start_s = record.end_s = now_;
  count(record);
  if (!recorded) unneeded_.insert(fit);
  if (recorded) notify(observers_, &Observer::given_up, record);
}

}  // namespace mokume::cluster
