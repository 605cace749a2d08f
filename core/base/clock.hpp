// Clocks in seconds.
#pragma once

#include <chrono>

namespace mokume::base {

// A source of time: the system clock or a simulated clock.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double wall_s() const = 0;    // since the epoch; can be adjusted, and then go backwards
  virtual double steady_s() const = 0;  // since an arbitrary moment; for differences
};

inline double wall_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
inline double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline const Clock& system_clock() {
  class System final : public Clock {
    double wall_s() const override { return base::wall_s(); }
    double steady_s() const override { return base::steady_s(); }
  };
  static const System kClock;
  return kClock;
}

}  // namespace mokume::base
