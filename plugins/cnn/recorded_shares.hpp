// How work was split in a training that this one repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "sdk/team.hpp"

namespace mokume::cnn {

class RecordedSplits {
 public:
  // What the leader's team knows (mk_team.splits), for everybody: every member makes one. None where it knows nothing.
  // Error(MK_INVALID_ARGUMENT) if it makes no sense, or is of another number of members.
  explicit RecordedSplits(const sdk::Team& team);

  bool any() const { return !places_.empty(); }
  // The shares that hold at this place of the training, the first batch of the first epoch being 0, 0. Asked for places
  // in order; null if nothing was recorded.
  const std::vector<int64_t>* at(int64_t epoch, int64_t batch);

 private:
  struct Place {
    int64_t epoch, batch;
    std::vector<int64_t> shares;
  };
  static std::vector<Place> parse(const char* text, uint32_t members);

  std::vector<Place> places_;  // ascending
  size_t next_ = 0;            // the first that does not hold yet
};

}  // namespace mokume::cnn
