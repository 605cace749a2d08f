// Who is to blame when work fails: the fit or the device? A device that fails with one fit after another is broken, and
// what it did to the fits does not count against them. A fit that fails again and again is poison, once a device on
// which it failed has shown that it still works.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace mokume::cluster {

class Failures {
 public:
  static constexpr uint32_t k_most = 3;  // failures of a fit

  explicit Failures(uint32_t n_units) : suspects_(n_units) {}

  // Work on `unit` failed with these fits unfinished. Returns whether the unit is to blame: two leases in a row failed
  // that have no fit in common.
  bool failed(uint32_t unit, const std::vector<uint32_t>& fits);

  void worked(uint32_t unit);  // a lease on it was complete

  bool too_often(uint32_t fit) const;  // k_most times or more
  bool proven(uint32_t fit) const;     // a unit on which it failed has worked since

  // The unit is to blame: what failed on it since it last worked does not count. Returns the fits that had failed too
  // often and now have not.
  std::vector<uint32_t> forgive(uint32_t unit);

  uint32_t in_a_row(uint32_t unit) const { return suspects_[unit].leases; }

 private:
  struct Suspect {
    uint32_t leases = 0;                  // that failed since it last worked
    std::set<uint32_t> in_all;            // fits unfinished in each of them
    std::map<uint32_t, uint32_t> counts;  // fit -> how often it failed in them
  };

  std::vector<Suspect> suspects_;                          // by unit
  std::map<uint32_t, std::map<uint32_t, uint32_t>> fits_;  // fit -> unit -> how often it failed there
};

}  // namespace mokume::cluster
