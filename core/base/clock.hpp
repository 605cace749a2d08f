// The clocks as seconds.
#pragma once

#include <chrono>

namespace mokume::base {

// Since the epoch; may be set, and run backwards.
inline double wall_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Since some moment; for differences.
inline double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace mokume::base
