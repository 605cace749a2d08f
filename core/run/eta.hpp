// Predicts when the fits of a session end, from the time that its finished fits took.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "journal/record.hpp"

namespace mokume::run {

// Weights each fit by its predicted time.
class Eta {
 public:
  // `costs` holds the predicted cost of each fit, in any unit, or nothing if all are equal. The remaining `slots` are
  // refits, which weigh as much as a mean fit. `done` holds the fits of earlier sessions. `chances` holds the
  // probability of each fit that it is computed, or nothing if all are. Times are in seconds.
  Eta(std::vector<double> costs, uint64_t slots, const std::vector<journal::FitRecord>& done, double now_s,
      const std::vector<double>& chances = {});

  void done(uint32_t fit, double now_s);

  // Returns the predicted seconds until the end, or nothing while unknown. `running` is the sum of the finished shares
  // of all running fits, and `gained` is the part of it that this session has computed.
  std::optional<double> seconds_left(double now_s, double running, double gained) const;

 private:
  double cost(uint32_t fit) const { return fit < costs_.size() ? costs_[fit] : 0; }

  std::vector<double> costs_;  // indexed by slot
  uint64_t left_ = 0;          // expected number of slots that are still to be computed
  double total_ = 0, left_cost_ = 0, done_cost_ = 0;
  double start_s_ = 0;
  std::optional<double> first_s_;  // time at which the first fit was done, after loading
  double first_cost_ = 0;
};

}  // namespace mokume::run
