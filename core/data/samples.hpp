// The rows that the models of a bootstrap learn from, and their folds.
#pragma once

#include <cstdint>
#include <vector>

namespace mokume::data {

// One entry per place of the sample, in training order.
struct Sample {
  std::vector<uint32_t> row;     // of the training table; may repeat
  std::vector<int32_t> fold_of;  // the fold that validates the place; -1: none
};

// Every row once, in order.
Sample whole_sample(std::vector<int32_t> fold_of);

// Efron's bootstrap (The Annals of Statistics 7(1), 1979) within folds: from each fold, as many rows as it has are
// drawn with replacement, fold after fold, rows without a fold first. So no row is trained on in one place and
// validated in another. A pure function of its arguments.
Sample draw_sample(const std::vector<int32_t>& fold_of, uint64_t seed, uint32_t bootstrap);

}  // namespace mokume::data
