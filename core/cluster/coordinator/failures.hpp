// Decides whether a fit or a device is faulty when work fails. A device that fails with one candidate after another is
// broken, and its failures do not count against the fits. A fit that fails repeatedly is faulty once a device on which
// it failed has worked again. Folds of one candidate tend to fail together, so failures on two devices count against
// the whole candidate.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace mokume::cluster {

class Failures {
 public:
  static constexpr uint32_t kMost = 3;  // limit on the failures of a fit

  // `candidates` is indexed by fit; each fit beyond its end is its own candidate.
  explicit Failures(uint32_t n_units, std::vector<uint32_t> candidates = {})
      : candidates_(std::move(candidates)), streaks_(n_units) {}

  // Work on `unit` failed with these fits unfinished. Returns whether the unit is faulty: the leases that failed since
  // it last worked have no candidate in common, which takes at least two. Leases with a candidate that also failed on
  // another unit do not count. `last`: no other unit is left; failures on units that were found faulty then also count
  // as failures elsewhere.
  bool failed(uint32_t unit, const std::vector<uint32_t>& fits, bool last = false);

  void worked(uint32_t unit);    // the unit has completed a fit after its last failure
  void succeeded(uint32_t fit);  // on any unit, in this or an earlier session

  bool too_often(uint32_t fit) const;  // at least kMost times
  bool proven(uint32_t fit) const;     // a unit on which it failed has worked since

  // These concern the candidate of a fit.
  bool has_failed(uint32_t fit) const;
  bool has_failed_on(uint32_t fit, uint32_t unit) const;
  bool has_succeeded(uint32_t fit) const { return good_.count(candidate(fit)) > 0; }

  bool anything_succeeded() const { return !good_.empty(); }
  uint32_t candidate(uint32_t fit) const { return fit < candidates_.size() ? candidates_[fit] : fit; }

  // The failures of a faulty unit since it last worked no longer count. Returns the fits that had failed too often only
  // because of them.
  std::vector<uint32_t> reinstate(uint32_t unit);

  void set_candidate(uint32_t fit, uint32_t candidate) {
    candidates_.at(fit) = candidate;
  }  // call before the first try

  uint32_t in_a_row(uint32_t unit) const { return static_cast<uint32_t>(streaks_[unit].leases.size()); }

 private:
  using Counts = std::map<uint32_t, uint32_t>;
  struct FailureStreak {
    std::vector<std::set<uint32_t>> leases;  // unfinished candidates by lease that failed since the unit last worked
    Counts counts;                           // number of failures in these leases by fit
  };

  bool failed_elsewhere(uint32_t candidate, uint32_t unit, bool last) const;

  std::vector<uint32_t> candidates_;
  std::vector<FailureStreak> streaks_;                // by unit
  std::map<uint32_t, Counts> fits_;                   // number of failures by fit and unit
  std::map<uint32_t, Counts> by_candidate_;           // number of failures by candidate and unit
  std::map<uint32_t, std::set<uint32_t>> failed_on_;  // units by candidate, faulty units included
  std::set<uint32_t> good_;                           // candidates
};

}  // namespace mokume::cluster
