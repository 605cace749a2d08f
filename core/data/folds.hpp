// Assigns training rows to validation folds.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Returns the fold that validates each training row, in [0, folds). Contiguous by default: fold k holds rows
// round(k*n/folds) .. round((k+1)*n/folds) (of a seeded shuffle, if requested); a half rounds to even as in NumPy's
// round(linspace(0, n, folds + 1)). Stratified: each class is cut into `folds` runs whose sizes differ by at most one,
// and so do the sizes of the folds. Each bootstrap has its own shuffle. Throws Error(MK_INVALID_ARGUMENT) unless 2 <=
// folds <= rows, and for stratified without labels.
std::vector<int32_t> assign_folds(const Table& train, uint32_t folds, bool shuffle, bool stratified, uint64_t seed,
                                  uint32_t bootstrap = 0);

// Draws one validation set with the seed: round(share * rows) rows (a half rounds up) get 0 and the others -1.
// Stratified: each class contributes its share, rounded so that the total is unchanged (the largest remainders round
// up). Throws Error(MK_INVALID_ARGUMENT) if no row or every row would be validated, and for stratified without labels.
std::vector<int32_t> assign_share(const Table& train, double share, bool stratified, uint64_t seed,
                                  uint32_t bootstrap = 0);

}  // namespace mokume::data
