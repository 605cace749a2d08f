// Defines how the coordinator handles a search in which results decide what is computed: rungs and trials.
#include <algorithm>
#include <utility>

#include "cluster/coordinator/coordinator.hpp"

namespace mokume::cluster {

// Dropped fits must be recorded before others begin, and nobody observes the constructor: the first tick does the rest.
void Coordinator::decide_at_start() {
  if (!work_.decides) return;
  const Decision decision = rules_.decide(done_);
  for (const uint32_t fit : decision.unneeded)
    if (!done_[fit]) drop(fit, false);
  if (std::all_of(decision.dropped.begin(), decision.dropped.end(), [&](uint32_t fit) { return done_[fit]; }))
    begin(decision.begin);
}

// The rules look at all records, so they are asked when no work waits, or none that a device can take (see grant()).
void Coordinator::decide_when_idle() {
  if (work_.decides && policy_.waiting() == 0) decide();
}

// A decision may lead to another one.
void Coordinator::decide() {
  while (std::exchange(is_news_, false)) {
    const Decision decision = rules_.decide(done_);
    for (const uint32_t fit : decision.dropped)
      if (!done_[fit]) drop(fit, true);
    for (const uint32_t fit : decision.unneeded)
      if (!done_[fit]) drop(fit, false);
    begin(decision.begin);
  }
}

void Coordinator::begin(const std::vector<uint32_t>& fits) {
  for (const uint32_t fit : fits) may_begin_.at(fit) = true;
  for (const uint32_t fit : fits) release(bundle_of_[fit]);
}

// Lets a bundle begin once all of its fits are decided, because fits of a bundle share work. Fits that an earlier
// session has computed stay, because the others may use their results.
void Coordinator::release(uint32_t bundle) {
  if (!parts_[bundle].undecided) return;
  std::vector<uint32_t> kept = policy_.bundle(bundle).fits;
  if (!std::all_of(kept.begin(), kept.end(), [&](uint32_t fit) { return done_[fit] || may_begin_[fit]; })) return;
  parts_[bundle].undecided = false;
  std::erase_if(kept, [&](uint32_t fit) { return is_dropped(fit); });
  if (!kept.empty()) policy_.narrow(bundle, kept);
  left(kept).empty() ? policy_.finished(bundle) : policy_.wait(bundle);
  placement_changed_ = true;
}

bool Coordinator::is_dropped(uint32_t fit) const {
  return done_[fit] && done_[fit]->status == journal::FitStatus::dropped;
}

// Notes that a fit is not computed. The journal needs to know, unless the other records imply it.
void Coordinator::drop(uint32_t fit, bool recorded) {
  const uint32_t bundle = bundle_of_[fit];
  journal::FitRecord record;
  record.fit = fit;
  record.status = journal::FitStatus::dropped;
  record.bundle = bundle;
  record.attempt = ++attempts_[fit];  // identifies the record
  record.start_s = record.end_s = now_;
  count(record);
  release(bundle);
  if (recorded)
    notify(observers_, &Observer::given_up, record);
  else
    unneeded_.insert(fit);
}

}  // namespace mokume::cluster
