// The shares of a training that this one repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/team.hpp"
#include "shares.hpp"

namespace mokume::cnn {

class RecordedShares {
 public:
  // Those that the leader's team knows (mk_team.splits), for every member: each makes one. None if it knows nothing.
  // Error(MK_INVALID_ARGUMENT) if they make no sense, or are of another number of members.
  explicit RecordedShares(const sdk::Team& team);

  bool any() const { return !changes_.empty(); }
  // The shares that hold from this batch of this epoch on, both from 0. Asked for in order; null if nothing was
  // recorded.
  const Shares* at(int64_t epoch, int64_t batch);

 private:
  struct Change {
    int64_t epoch, batch;
    Shares shares;
  };
  static std::vector<Change> parse(const char* text, uint32_t members);

  std::vector<Change> changes_;  // ascending
  size_t next_ = 0;              // the first that does not hold yet
};

// The leader's numbers, which are not negative and below 2^44, for every member. Floats carry them.
void from_leader(const sdk::Team& team, std::span<int64_t> numbers);

}  // namespace mokume::cnn
