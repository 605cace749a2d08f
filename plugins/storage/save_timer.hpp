// Decides when a model writes checkpoints.
#pragma once

#include <algorithm>
#include <chrono>

#include "sdk/variable.hpp"

namespace mokume::storage {

// Checkpoints are due once a minute, or less often if they would take more than a twentieth of the time. The variable
// MOKUME_CHECKPOINT_SECONDS replaces the minute. The times are seconds of the steady clock.
class SaveTimer {
 public:
  static double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  void begin() { saved_at_ = now_s(); }
  bool due() const { return now_s() - saved_at_ > interval_; }
  // Returns whether work since `began` would be a loss worth a file.
  bool is_long(double began) const { return now_s() - began > period_ / kShortest; }
  // Records that the checkpoint started at `began` is complete.
  void saved(double began) {
    saved_at_ = now_s();
    interval_ = std::max(period_, kShare * (saved_at_ - began));
  }

 private:
  static constexpr double kMinute = 60, kShare = 20, kShortest = 6;
  double period_ = sdk::seconds_variable("MOKUME_CHECKPOINT_SECONDS", kMinute);
  double saved_at_ = 0, interval_ = period_;
};

}  // namespace mokume::storage
