// Seconds for which this process has listened to others. Stopped, starved or swapped out it hears nobody: it must not
// take its own absence for their silence.
#pragma once

#include <algorithm>

namespace mokume::cluster {

class Listening {
 public:
  // Called at every turn of the pump with the time now; a longer absence counts as this much.
  static constexpr double k_longest_turn_s = 1;

  double turn(double now) {
    if (started_) seconds_ += std::clamp(now - last_, 0.0, k_longest_turn_s);
    started_ = true;
    last_ = now;
    return seconds_;
  }
  double seconds() const { return seconds_; }

 private:
  bool started_ = false;
  double last_ = 0, seconds_ = 0;
};

}  // namespace mokume::cluster
