// Draws the rows that the models of a bootstrap train on, with their folds.
#pragma once

#include <cstdint>
#include <vector>

namespace mokume::data {

// Holds one entry per place of the sample, in training order.
struct Sample {
  std::vector<uint32_t> row;     // row of the training table; may repeat
  std::vector<int32_t> fold_of;  // fold that validates the place, or -1
};

// Returns the sample that has every row once, in order.
Sample whole_sample(std::vector<int32_t> fold_of);

// Draws Efron's bootstrap (The Annals of Statistics 7(1), 1979) within folds: draws with replacement, fold after fold,
// as many rows from each fold as the fold has, starting with the rows without a fold. A row is therefore never trained
// on in one place and validated in another. The result is a pure function of the arguments.
Sample draw_sample(const std::vector<int32_t>& fold_of, uint64_t seed, uint32_t bootstrap);

// Draws, without replacement, one of `divisor` rows of each fold, and of each class in it if there are `labels`,
// rounded up. The sample of a smaller divisor contains that of a larger one. The result is a pure function of the
// arguments.
Sample draw_part(const std::vector<int32_t>& fold_of, const std::vector<int32_t>& labels, uint64_t divisor,
                 uint64_t seed);

}  // namespace mokume::data
