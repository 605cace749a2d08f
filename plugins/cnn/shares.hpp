// How work is shared by devices of unequal speed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mokume::cnn {

// Units of work for each device, at most `units` in all, so that the last is done as early as it gets; ties go to the
// lower index. Speeds are above 0.
std::vector<int64_t> split(int64_t units, const std::vector<double>& speeds);

// What devices have shown so far. The same measurements in the same order give the same speeds.
class Speeds {
 public:
  // `first`: measured before, 0 where unknown: then all count as equal.
  explicit Speeds(std::vector<double> first);

  const std::vector<double>& now() const { return now_; }
  // Units that each has done since the last call, and the seconds that took it. The first call is left out: a device
  // may have built its kernels then.
  void measure(const std::vector<int64_t>& units, const std::vector<double>& seconds);

 private:
  std::vector<double> now_;
  bool warm_ = false, measured_ = false;
};

// Whoever turned out too slow for any share is tried again, ever more seldom: what slowed it down may be over.
class SecondChances {
 public:
  explicit SecondChances(size_t members) : wait_(members, kFirst), idle_(members, 0) {}

  // After each look, with the shares of that time: who gets a unit now, if anybody.
  std::optional<size_t> next(const std::vector<int64_t>& shares);

 private:
  static constexpr int64_t kFirst = 64;  // looks
  std::vector<int64_t> wait_, idle_;
};

// Whether shares of these sizes end earlier by more than what measurements vary.
bool is_better(const std::vector<int64_t>& next, const std::vector<int64_t>& now, const std::vector<double>& speeds);

}  // namespace mokume::cnn
