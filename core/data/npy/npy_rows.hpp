// Reader for NumPy arrays: tables (N, F), grey pictures (N, H, W) and pictures with channels, with an array of labels.
#pragma once

#include <cstdint>
#include <string>

#include "data/raw_table.hpp"

namespace mokume::data {

struct NpyRows {
  std::string rows;    // numbers of any type; float32 is kept as it is, other types are rounded to it
  std::string labels;  // one number for each row, (N) or (N, 1); "": none
  Layout layout = Layout::none;
};

// Checks both files and keeps the first `limit` rows (0 = all). Channels become innermost.
RawTable read_npy_rows(const NpyRows& files, int64_t limit);

}  // namespace mokume::data
