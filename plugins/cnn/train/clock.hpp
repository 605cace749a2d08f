// Measures time within a training.
#pragma once

#include <chrono>

namespace mokume::cnn {

inline constexpr double kShowSeconds = 0.5;

inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace mokume::cnn
