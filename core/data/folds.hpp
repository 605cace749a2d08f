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

// Folds that keep the rows of a group together. Groups are taken from the largest to the smallest (of a seeded shuffle,
// if asked for), each into the fold with the fewest rows. Stratified: into the fold that has the fewest rows of its
// classes, each class weighted by the square of its rows in total, so that the spread of the classes over the folds
// grows least; equal folds are told apart by their rows. Throws Error(MK_INVALID_ARGUMENT) unless 2 <= folds <= groups.
std::vector<int32_t> assign_group_folds(const Table& train, uint32_t folds, bool shuffle, bool stratified,
                                        uint64_t seed, uint32_t bootstrap = 0);

// One validation set of whole groups, drawn with the seed, whose rows come as close to share * rows as the order of the
// draw allows. Throws Error(MK_INVALID_ARGUMENT) if no group or every group would be validated.
std::vector<int32_t> assign_group_share(const Table& train, double share, uint64_t seed, uint32_t bootstrap = 0);

// For rows in the order of time: the ends of folds + 1 blocks, whose sizes differ by at most one row. Fold k validates
// block k + 1 and trains on all rows before it. Throws Error(MK_INVALID_ARGUMENT) unless 2 <= folds < rows.
std::vector<int64_t> time_blocks(int64_t rows, uint32_t folds);

// The last round(share * rows) rows, a half going up, get 0 and the others -1. Throws like assign_share().
std::vector<int32_t> assign_last_share(const Table& train, double share);

}  // namespace mokume::data
