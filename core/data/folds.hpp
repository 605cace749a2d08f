// Assigns training rows to validation folds.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Returns the fold that validates each training row, in [0, folds). By default, folds are contiguous: fold k holds the
// rows from round(k*n/folds) to round((k+1)*n/folds), after a seeded shuffle if `shuffle` is set. A half rounds to
// even, as in NumPy's round(linspace(0, n, folds + 1)). `stratified` cuts each class into `folds` runs whose sizes
// differ by at most one, and keeps the fold sizes within one row of each other; it has no effect without labels. Each
// bootstrap has its own shuffle. Throws Error(MK_INVALID_ARGUMENT) unless 2 <= folds <= rows.
std::vector<int32_t> assign_folds(const Table& train, uint32_t folds, bool shuffle, bool stratified, uint64_t seed,
                                  uint32_t bootstrap = 0);

// Draws one validation set of round(share * rows) rows with the seed; a half rounds up. Returns 0 for these rows and -1
// for all others. `stratified` takes the share from each class, rounded so that the total is the same (the largest
// remainders round up). Throws Error(MK_INVALID_ARGUMENT) if no row or every row would be validated.
std::vector<int32_t> assign_share(const Table& train, double share, bool stratified, uint64_t seed,
                                  uint32_t bootstrap = 0);

// Assigns whole groups to folds, from the largest group to the smallest, after a seeded shuffle if `shuffle` is set.
// Each group joins the fold with the fewest rows. With `stratified`, it joins the fold where the spread of the classes
// over the folds grows least, and the number of rows breaks ties; a row counts relative to the number of rows in its
// class. Throws Error(MK_INVALID_ARGUMENT) unless 2 <= folds <= groups.
std::vector<int32_t> assign_group_folds(const Table& train, uint32_t folds, bool shuffle, bool stratified,
                                        uint64_t seed, uint32_t bootstrap = 0);

// Draws one validation set of whole groups with the seed. Its size comes as close to share * rows as the drawn order
// allows. Throws Error(MK_INVALID_ARGUMENT) if no group or every group would be validated.
std::vector<int32_t> assign_group_share(const Table& train, double share, uint64_t seed, uint32_t bootstrap = 0);

// Returns the ends of folds + 1 blocks of rows in the order of time, whose sizes differ by at most one row. Fold k
// validates block k + 1 and trains on all rows before it. Throws Error(MK_INVALID_ARGUMENT) unless 2 <= folds < rows.
std::vector<int64_t> time_blocks(int64_t rows, uint32_t folds);

// Returns 0 for the last round(share * rows) rows and -1 for all others; a half rounds up. Throws like assign_share().
std::vector<int32_t> assign_last_share(const Table& train, double share);

}  // namespace mokume::data
