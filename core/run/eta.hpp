// When the fits of a session end, predicted from the time that its finished ones took.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "journal/record.hpp"

namespace mokume::run {

// Fits weigh as much as they are predicted to take, not as much as each other.
class Eta {
 public:
  // `costs` holds the predicted cost of each fit, in any unit; empty: all are equal. The other `slots`, which are
  // refits, weigh as much as a mean fit. `done` are those of earlier sessions. Times are in seconds.
  Eta(std::vector<double> costs, uint64_t slots, const std::vector<journal::FitRecord>& done, double now_s);

  void done(uint32_t fit, double now_s);

  // The seconds that are left, unless nothing is known yet. `running` is the sum of the finished shares of what devices
  // work on, and `gained` the part of it that this session has done.
  std::optional<double> seconds_left(double now_s, double running, double gained) const;

 private:
  double cost(uint32_t fit) const { return fit < costs_.size() ? costs_[fit] : 0; }

  std::vector<double> costs_;  // by slot
  uint64_t left_ = 0;          // slots that are not done
  double total_ = 0, left_cost_ = 0, done_cost_ = 0;
  double start_s_ = 0;
  std::optional<double> first_s_;  // when the first one was done, after loading
  double first_cost_ = 0;
};

}  // namespace mokume::run
