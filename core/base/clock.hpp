// Defines clocks that count seconds.
#pragma once

#include <chrono>

namespace mokume::base {

// Tells the time of the system or of a simulation.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double wall_s() const = 0;    // seconds since the epoch; may jump back when the clock is adjusted
  virtual double steady_s() const = 0;  // seconds since an arbitrary moment; only differences matter
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
