// Divides the rows into blocks, over which batch normalisation sums in a fixed order.
#pragma once

#include <algorithm>
#include <vector>

#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host {

// Holds two values per column for each block of rows.
struct NormParts {
  int64_t rows, columns, rows_each;
  std::vector<float> values;

  NormParts(int64_t all_rows, int64_t all_columns)
      : rows(all_rows),
        columns(all_columns),
        rows_each(std::clamp<int64_t>(kElements / std::max<int64_t>(1, columns), 1, kMostRows)),
        values(static_cast<size_t>(2 * blocks() * columns)) {}

  int64_t blocks() const { return (rows + rows_each - 1) / rows_each; }
  int64_t rows_of(int64_t block) const { return std::min(rows, (block + 1) * rows_each) - block * rows_each; }
  float* line(int64_t block, int which) { return values.data() + (2 * block + which) * columns; }

  // Calls sum(block, first row, rows) for every block, in parallel.
  template <class Sum>
  void for_each_block(const Call& call, const Sum& sum) {
    call.parallel_for(static_cast<uint64_t>(blocks()), [&](uint64_t block) {
      const auto b = static_cast<int64_t>(block);
      sum(b, b * rows_each, rows_of(b));
    });
  }

  static constexpr int64_t kElements = 32768;  // a block of this size stays in a core's cache for a second pass
  static constexpr int64_t kMostRows = 4096;
};

namespace fast {
// Computes the scale and the shift of each column for a batch_norm that predicts.
void predicting_scale(const Call& call, float* scale, float* shift);
}  // namespace fast

}  // namespace mokume::host
