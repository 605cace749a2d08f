// How devices share the work of one training: by the speeds that they show, or as another training was recorded to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sdk/team.hpp"

namespace mokume::cnn {

using Shares = std::vector<int64_t>;  // units of work for each member of a team

// At most `units` in all, so that the last member is done as early as possible; ties go to the lower index. Speeds are
// above 0.
Shares split(int64_t units, const std::vector<double>& speeds);

// Whether `next` ends earlier than `now` by more than measurements vary.
bool is_better(const Shares& next, const Shares& now, const std::vector<double>& speeds);

// "5+3".
std::string text_of(const Shares& shares);

// The speeds that devices have shown so far. The same measurements in the same order give the same speeds.
class Speeds {
 public:
  // `first`: measured before, 0 where unknown: then all count as equal.
  explicit Speeds(std::vector<double> first);

  const std::vector<double>& now() const { return now_; }
  // Units that each has done since the last call, and the seconds that they took. The first call is left out: a device
  // may have built its kernels then.
  void measure(const std::vector<double>& units, const std::vector<double>& seconds);

 private:
  std::vector<double> now_;
  bool warm_ = false, measured_ = false;
};

// A member that was too slow for any share is tried again after waits that double: what slowed it down may be over.
class Backoff {
 public:
  explicit Backoff(size_t members) : wait_(members, kFirst), idle_(members, 0) {}

  // After each measurement, with the shares of that time: the member that gets a unit now, if any.
  std::optional<size_t> next(const Shares& shares);

 private:
  static constexpr int64_t kFirst = 64;  // measurements
  std::vector<int64_t> wait_, idle_;
};

// The shares of a training that this one repeats.
class RecordedShares {
 public:
  // The shares that the leader's team knows (mk_team.splits), for every member: each makes one. None if it knows
  // nothing. Error(MK_INVALID_ARGUMENT) if they make no sense, or are of another number of members.
  explicit RecordedShares(const sdk::Team& team);

  bool any() const { return !changes_.empty(); }
  // The shares that hold from this batch of this epoch on, both from 0. Asked for in order; null if nothing was
  // recorded.
  const Shares* at(int64_t epoch, int64_t batch);

 private:
  struct Change {
    int64_t epoch, batch;  // from 0
    Shares shares;
  };

  void parse(const std::string& text, uint32_t members);

  std::vector<Change> changes_;  // ascending
  size_t next_ = 0;              // the first that does not hold yet
};

// The leader's number, which is not negative and below 2^44, for every member. Floats carry it.
int64_t from_leader(const sdk::Team& team, int64_t number);

}  // namespace mokume::cnn
