// Limits on the silence of a process or a device before others stop waiting for it.
#pragma once

#include <algorithm>

namespace mokume::cluster {

inline constexpr double kHeartbeatSeconds = 0.5;  // interval between two heartbeats of a node
// The patience with work that was killed.
inline constexpr double kKillSeconds = 30;

struct Limits {
  double lease_s = 30;  // a node that is silent for this long is lost; node 0 after twice as long
  // Work without a sign of life hangs after this long, or after ten times its predicted time if that is longer. The end
  // of the run does not wait for it.
  double hang_s = 600;
};

// The time for which this process has listened to others. While it is stopped, starved or swapped out it hears nobody,
// and must not mistake its own absence for their silence.
class Listening {
 public:
  // Called at every turn of the loop with the current time; a longer absence counts as this much.
  static constexpr double kLongestTurnSeconds = 1;

  double turn(double now) {
    if (started_) seconds_ += std::clamp(now - last_, 0.0, kLongestTurnSeconds);
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
