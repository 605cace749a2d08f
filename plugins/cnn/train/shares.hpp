// Divides the work of training among devices, by their measured speeds or as recorded in an earlier run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sdk/team.hpp"

namespace mokume::cnn {

using Shares = std::vector<int64_t>;  // units of work for each member of a team

// Distributes `units` so that the last member finishes as early as possible; ties go to the lower index. Speeds must be
// positive.
Shares split(int64_t units, const std::vector<double>& speeds);

// Returns whether `next` finishes earlier than `now` by more than the noise of measurements.
bool is_better(const Shares& next, const Shares& now, const std::vector<double>& speeds);

// Returns text such as "5+3".
std::string text_of(const Shares& shares);

// Tracks the measured speeds of the devices. Equal measurements in the same order give equal speeds.
class Speeds {
 public:
  // `first` holds earlier measurements. If any of them is 0 (unknown), all devices count as equal.
  explicit Speeds(std::vector<double> first);

  const std::vector<double>& now() const { return now_; }
  // `units` is the work of each device since the last call, which took `seconds`. Ignores the first call, because
  // devices may have built their kernels in that time.
  void measure(const std::vector<double>& units, const std::vector<double>& seconds);

 private:
  std::vector<double> now_;
  bool warm_ = false, measured_ = false;
};

// Retries a member that was too slow for any share, because the cause may have passed. The waiting time doubles.
class Backoff {
 public:
  explicit Backoff(size_t members) : wait_(members, kFirst), idle_(members, 0) {}

  // Expects the current shares after each measurement. Returns the member that now receives one unit, if any.
  std::optional<size_t> next(const Shares& shares);

 private:
  static constexpr int64_t kFirst = 64;  // first waiting time, in measurements
  std::vector<int64_t> wait_, idle_;
};

// Holds the shares of a recorded run that the current run repeats.
class RecordedShares {
 public:
  // Every member constructs this object from the leader's shares (mk_team.splits). Without recorded shares, the object
  // is empty. Throws Error(MK_INVALID_ARGUMENT) if the shares are malformed or for another number of members.
  explicit RecordedShares(const sdk::Team& team);

  bool any() const { return !changes_.empty(); }
  // Returns the numbers of stages of a run that was split by layers, or null.
  const Shares* layers() const { return any() && changes_.front().layers ? &changes_.front().shares : nullptr; }
  // Returns the shares in effect from this batch of this epoch on (both from 0), or null if nothing was recorded. Calls
  // must be in ascending order.
  const Shares* at(int64_t epoch, int64_t batch);

 private:
  struct Change {
    int64_t epoch, batch;  // counted from 0
    bool layers;           // whether the shares are numbers of stages
    Shares shares;
  };

  void parse(const std::string& text, uint32_t members);

  std::vector<Change> changes_;  // in ascending order
  size_t next_ = 0;              // index of the first change that is not in effect yet
};

// Returns the leader's number to every member. The number must be in [0, 2^44), because it is sent as floats.
int64_t from_leader(const sdk::Team& team, int64_t number);

}  // namespace mokume::cnn
