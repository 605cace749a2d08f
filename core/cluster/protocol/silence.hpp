// How long a process or a device may be silent before the others stop waiting for it.
#pragma once

#include <algorithm>

namespace mokume::cluster {

inline constexpr double kHeartbeatSeconds = 0.5;  // so often a node says that it lives
// Until work that was ended by force must have returned.
inline constexpr double kKillSeconds = 30;

struct Limits {
  double lease_s = 30;  // a node from which nothing was heard for this long is lost, and node 0 after twice as long
  // Work that gave no sign of life for this long hangs, or for ten times what it should take if that is longer. It is
  // not waited for at the end of the run.
  double hang_s = 600;
};

// Seconds for which this process has listened to others. Stopped, starved or swapped out it hears nobody: it must not
// take its own absence for their silence.
class Listening {
 public:
  // Called at every turn of the loop with the time now; a longer absence counts as this much.
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
