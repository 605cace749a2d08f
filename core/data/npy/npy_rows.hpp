// Reads NumPy arrays: tables (N, F), grey pictures (N, H, W) and pictures with channels, with an array of labels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/raw_table.hpp"

namespace mokume::data {

struct NpyRows {
  std::string rows;    // file with numbers of any type, which are rounded to float32
  std::string labels;  // file with one number for each row, (N) or (N, 1), or "" for no labels
  Layout layout = Layout::none;
  bool exact = false;  // keeps the values that float32 rounds in Table::exact
};

// Reads the weight of each training row from a file with one number, at least 0, for each of `rows` rows, and keeps the
// first `limit` of them (0 means all).
std::vector<float> read_npy_weights(const std::string& path, int64_t rows, int64_t limit);

// Checks both files and keeps the first `limit` rows (0 means all). Makes channels innermost.
RawTable read_npy_rows(const NpyRows& files, int64_t limit);

}  // namespace mokume::data
