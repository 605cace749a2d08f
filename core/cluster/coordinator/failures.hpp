// Who is to blame when work fails: the fit or the device? A device that fails with one candidate after another is
// broken, and what it did to the fits does not count against them. A fit that fails again and again is poison, once a
// device on which it failed has shown that it still works. Folds of one candidate tend to fail together: what has
// failed on two devices speaks against the candidate.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace mokume::cluster {

class Failures {
 public:
  static constexpr uint32_t kMost = 3;  // failures of a fit

  // candidates: by fit; a fit beyond them is a candidate of its own.
  explicit Failures(uint32_t n_units, std::vector<uint32_t> candidates = {})
      : candidates_(std::move(candidates)), suspects_(n_units) {}

  // Work on `unit` failed with these fits unfinished. Returns whether the unit is to blame: of the leases that failed
  // since it last worked, leaving out those with a candidate that failed on another unit too, two or more have no
  // candidate in common. `last`: no other unit is left; then what failed on units that were blamed for it counts as
  // failed elsewhere, too.
  bool failed(uint32_t unit, const std::vector<uint32_t>& fits, bool last = false);

  void worked(uint32_t unit);    // a fit on it was complete after the last failure
  void succeeded(uint32_t fit);  // somewhere, now or in an earlier session

  bool too_often(uint32_t fit) const;  // kMost times or more
  bool proven(uint32_t fit) const;     // a unit on which it failed has worked since

  // These speak of the candidate of a fit.
  bool has_failed(uint32_t fit) const;
  bool has_failed_on(uint32_t fit, uint32_t unit) const;
  bool has_succeeded(uint32_t fit) const { return good_.count(candidate(fit)) > 0; }

  bool anything_succeeded() const { return !good_.empty(); }
  uint32_t candidate(uint32_t fit) const { return fit < candidates_.size() ? candidates_[fit] : fit; }

  // The unit is to blame: what failed on it since it last worked does not count. Returns the fits that had failed too
  // often and now have not.
  std::vector<uint32_t> forgive(uint32_t unit);

  void set_candidate(uint32_t fit, uint32_t candidate) { candidates_.at(fit) = candidate; }  // before it is tried

  uint32_t in_a_row(uint32_t unit) const { return static_cast<uint32_t>(suspects_[unit].leases.size()); }

 private:
  using Counts = std::map<uint32_t, uint32_t>;
  struct Suspect {
    std::vector<std::set<uint32_t>> leases;  // that failed since it last worked: the candidates unfinished in each
    Counts counts;                           // fit -> how often it failed in them
  };

  bool failed_elsewhere(uint32_t candidate, uint32_t unit, bool last) const;

  std::vector<uint32_t> candidates_;
  std::vector<Suspect> suspects_;                     // by unit
  std::map<uint32_t, Counts> fits_;                   // fit -> unit -> how often it failed there
  std::map<uint32_t, Counts> by_candidate_;           // the same of all its fits
  std::map<uint32_t, std::set<uint32_t>> failed_on_;  // candidate -> units, also those that were to blame
  std::set<uint32_t> good_;                           // candidates
};

}  // namespace mokume::cluster
