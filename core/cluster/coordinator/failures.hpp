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

  // Counts a failed lease on `unit` that left `fits` unfinished. Returns whether the unit is faulty: the leases that
  // failed since it last worked have no candidate in common, so there are at least two. Ignores leases with a candidate
  // that also failed on another unit. If `last` is set, no other unit is left; failures on units found faulty then
  // count, too.
  bool failed(uint32_t unit, const std::vector<uint32_t>& fits, bool last = false);

  void worked(uint32_t unit);    // restarts the streak of a unit that has completed a fit
  void succeeded(uint32_t fit);  // notes a success on any unit, in this or an earlier start of the run

  bool too_often(uint32_t fit) const;  // returns whether it failed at least kMost times
  bool proven(uint32_t fit) const;     // returns whether a unit on which it failed has worked since

  // These functions concern the candidate of `fit`.
  bool has_failed(uint32_t fit) const;
  bool has_failed_on(uint32_t fit, uint32_t unit) const;
  bool has_succeeded(uint32_t fit) const { return good_.count(candidate(fit)) > 0; }

  bool anything_succeeded() const { return !good_.empty(); }
  uint32_t candidate(uint32_t fit) const { return fit < candidates_.size() ? candidates_[fit] : fit; }

  // Discards the failures of a faulty unit since it last worked. Returns the fits that had failed too often only
  // because of these failures.
  std::vector<uint32_t> reinstate(uint32_t unit);

  // Must be called before the first attempt at `fit`.
  void set_candidate(uint32_t fit, uint32_t candidate) { candidates_.at(fit) = candidate; }

  uint32_t in_a_row(uint32_t unit) const { return static_cast<uint32_t>(streaks_[unit].leases.size()); }

 private:
  using Counts = std::map<uint32_t, uint32_t>;
  struct FailureStreak {
    std::vector<std::set<uint32_t>> leases;  // unfinished candidates of each failed lease in the streak
    Counts counts;                           // number of failures of each fit in these leases
  };

  bool failed_elsewhere(uint32_t candidate, uint32_t unit, bool last) const;

  std::vector<uint32_t> candidates_;
  std::vector<FailureStreak> streaks_;                // indexed by unit
  std::map<uint32_t, Counts> fits_;                   // number of failures by fit and unit
  std::map<uint32_t, Counts> by_candidate_;           // number of failures by candidate and unit
  std::map<uint32_t, std::set<uint32_t>> failed_on_;  // units on which each candidate failed, faulty ones included
  std::set<uint32_t> good_;                           // candidates with a successful fit
};

}  // namespace mokume::cluster
