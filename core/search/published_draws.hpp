// Replays the random draws of a published study that drew its samples and candidates with NumPy: the bagged networks of
// S. M. Lo, multinode-gpu-study (https://github.com/shermanlo77/multinode-gpu-study, mnist_nn).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/plan.hpp"

namespace mokume::search {

struct BootstrapDraws {
  std::vector<uint32_t> row;                   // the row at each position of the sample, ordered by fold
  std::vector<int32_t> fold_of;                // the fold of each position; -1 without folds
  std::vector<std::vector<Value>> candidates;  // values in the order of the spaces
};

// Each bootstrap draws from the seed's child with the number of the bootstrap, in this order:
//   two seeds of 8 bytes for PyTorch, which mokume does not use;
//   the sample: one permutation of all rows, cut into folds at round(linspace(0, rows, folds + 1)); then, fold by fold,
//   as many rows as the fold has, with replacement. If `folds` is 0, all rows form one block;
//   the candidates, one after the other, each parameter in the order of `spaces`: integers(low, high + 1) for integers,
//   random() * (high - low) + low for reals, 10 to this power for log10, integers(0, n) as the index into a list of n.
//   Reals in log10 depend on pow() of the C library and may differ from NumPy's in the last bit.
//
// The study's own draws are published_draws("169514335042358758700408908237337905507", 12, 12, spaces, 60000, 5) with
// n_conv_layer 1..999, kernel_size 2..10, n_hidden_layer 1..1999, learning_rate log10 [-5, -1], momentum log10 [-2, 0].
//
// Takes 8 bytes of memory per row and bootstrap. Throws Error(MK_INVALID_ARGUMENT) if the seed is not a decimal number,
// or for no rows or more than 2^32, more folds than rows, a space without values, or more than 10 million candidates.
std::vector<BootstrapDraws> published_draws(const std::string& seed_text, uint32_t bootstraps, uint32_t candidates,
                                            const std::vector<Space>& spaces, int64_t rows, uint32_t folds);

}  // namespace mokume::search
