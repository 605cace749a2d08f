// Reads validation folds from a file: the key `file` of [validation].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::data {

inline constexpr int32_t kMostGivenFolds = 1000;

// Returns the fold that validates each of `rows` training rows, counted from 0; -1 means none. The file is a NumPy
// array of whole numbers (.npy), or text with one whole number on each line. Error(MK_BAD_DATA) names the file, the
// place and the cure.
std::vector<int32_t> read_folds(const std::string& path, int64_t rows);

// `fold_of` has at least one row. Throws Error(MK_BAD_DATA) unless every fold below `folds` validates a row and trains
// on a row, and no entry names another fold.
void check_folds(const std::string& path, const std::vector<int32_t>& fold_of, uint32_t folds);

}  // namespace mokume::data
