// The clocks as seconds.
#pragma once

#include <chrono>

namespace mokume::base {

// The time as a process sees it: the system's, or that of a simulation.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double wall_s() const = 0;    // since the epoch; may be set, and run backwards
  virtual double steady_s() const = 0;  // since some moment; for differences
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
