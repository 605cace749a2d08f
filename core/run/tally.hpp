// Counts the votes of an ensemble's members on rows, member by member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "node/prediction.hpp"

namespace mokume::run {

// The memory does not grow with the number of members. The class is thread-compatible.
class Tally {
 public:
  Tally(size_t rows, size_t classes);

  // Adds one member's labels and certainties for all rows. Certainties count in single precision, as a model's
  // directory stores them (vote.hpp), so that a tie has the same winner when they are read from there.
  void add(const node::Classified& member);

  size_t winner(size_t row) const;    // see results::majority
  uint32_t votes(size_t row) const {  // returns the number of votes for the winner
    return votes_[row * classes_ + winner(row)];
  }
  // Returns the share of `members` that vote for the class `label`.
  float share(size_t row, size_t label, size_t members) const {
    return static_cast<float>(votes_[row * classes_ + label]) / static_cast<float>(members);
  }
  const std::vector<double>& certainty() const { return certainty_; }  // rows x classes; sums over members

 private:
  size_t classes_;
  std::vector<uint32_t> votes_;  // rows x classes
  std::vector<double> certainty_;
};

}  // namespace mokume::run
