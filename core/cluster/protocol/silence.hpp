// Limits how long a process or a device may be silent before others stop waiting for it.
#pragma once

#include <algorithm>

namespace mokume::cluster {

inline constexpr double kHeartbeatSeconds = 0.5;  // interval between two heartbeats of a node
inline constexpr double kKillSeconds = 30;        // time that others wait for killed work to end

struct Limits {
  double lease_s = 30;  // a node that is silent for this long is lost; for node 0, after twice as long
  // Work hangs after this long without a sign of life, or after ten times its predicted time if that is longer. The end
  // of the run does not wait for hanging work.
  double hang_s = 600;
};

// Measures the time for which this process has listened to others. A process that is stopped, starved or swapped out
// hears nobody, and must not mistake its own absence for the silence of others.
class Listening {
 public:
  static constexpr double kLongestTurnSeconds = 1;  // a longer turn counts as this long

  // Must be called at every turn of the loop with the current time.
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
