// Reads validation folds from the file that the key `file` of [validation] names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::data {

inline constexpr int32_t kMostGivenFolds = 1000;

// Returns the fold that validates each of `rows` training rows, counted from 0, or -1 for none. The file is a NumPy
// array of whole numbers (.npy), or text with one whole number on each line. Throws Error(MK_BAD_DATA), which names the
// file, the place and the cure.
std::vector<int32_t> read_folds(const std::string& path, int64_t rows);

// Throws Error(MK_BAD_DATA) unless every fold below `folds` validates a row and trains on a row, and no entry names
// another fold. `fold_of` must have at least one row.
void check_folds(const std::string& path, const std::vector<int32_t>& fold_of, uint32_t folds);

}  // namespace mokume::data
