// Assigns training rows to validation folds.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// The fold in which each training row is validated, in [0, folds). Contiguous by default: fold k holds rows
// round(k*n/folds) .. round((k+1)*n/folds) (of a seeded shuffle, if asked for), a half going to the even side as in
// NumPy's round(linspace(0, n, folds + 1)). Stratified: each class is cut into `folds` runs whose sizes differ by at
// most one, and so do the folds; without labels, `stratified` changes nothing. Each bootstrap shuffles in its own way.
// Throws Error(MK_INVALID_ARGUMENT) unless 2 <= folds <= rows.
std::vector<int32_t> assign_folds(const Table& train, uint32_t folds, bool shuffle, bool stratified, uint64_t seed,
                                  uint32_t bootstrap = 0);

// One validation set: round(share * rows) rows, a half going up, drawn with the seed, get 0 and the others -1.
// Stratified: each class gives its share of them, rounded so that the sum stays (the largest remainders go up). Throws
// Error(MK_INVALID_ARGUMENT) if no row or every row would be validated.
std::vector<int32_t> assign_share(const Table& train, double share, bool stratified, uint64_t seed,
                                  uint32_t bootstrap = 0);

}  // namespace mokume::data
