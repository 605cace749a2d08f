// Which rows a model of a bootstrap learns from, and in which folds.
#pragma once

#include <cstdint>
#include <vector>

namespace mokume::data {

// One entry for each place of the sample, in the order in which rows are trained on.
struct Sample {
  std::vector<uint32_t> row;     // of the training table; may repeat
  std::vector<int32_t> fold_of;  // in which the place is validated; -1: in none
};

// Every row once, in order.
Sample whole_sample(std::vector<int32_t> fold_of);

// Efron's bootstrap (The Annals of Statistics 7(1), 1979) within folds: as many rows as a fold has, drawn from them
// with replacement, fold after fold, those of no fold first. So no row is trained on in one place and validated in
// another. A pure function of its arguments.
Sample draw_sample(const std::vector<int32_t>& fold_of, uint64_t seed, uint32_t bootstrap);

}  // namespace mokume::data
