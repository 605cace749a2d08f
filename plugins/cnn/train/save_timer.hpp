// Decides when training writes a checkpoint.
#pragma once

#include <algorithm>
#include <chrono>

namespace mokume::cnn {

inline constexpr double kShowSeconds = 0.5;

inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A checkpoint is due once a minute, or less often if checkpoints would take more than a twentieth of the time.
class SaveTimer {
 public:
  void begin() { saved_at_ = now_s(); }
  bool due() const { return now_s() - saved_at_ > interval_; }
  // Records that the checkpoint started at `began` is complete.
  void saved(double began) {
    saved_at_ = now_s();
    interval_ = std::max(kSeconds, kShare * (saved_at_ - began));
  }

 private:
  static constexpr double kSeconds = 60, kShare = 20;
  double saved_at_ = 0, interval_ = kSeconds;
};

}  // namespace mokume::cnn
