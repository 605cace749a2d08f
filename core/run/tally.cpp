#include "run/tally.hpp"

#include "results/stats.hpp"

namespace mokume::run {

Tally::Tally(size_t rows, size_t classes) : classes_(classes), votes_(rows * classes), certainty_(rows * classes) {}

void Tally::add(const node::Classified& member) {
  for (size_t r = 0; r < member.labels.size(); ++r) ++votes_[r * classes_ + static_cast<size_t>(member.labels[r])];
  for (size_t i = 0; i < certainty_.size(); ++i)
    certainty_[i] += static_cast<double>(static_cast<float>(member.certainty[i]));
}

size_t Tally::winner(size_t row) const {
  return results::majority({votes_.data() + row * classes_, classes_}, {certainty_.data() + row * classes_, classes_});
}

}  // namespace mokume::run
