// Divides the rows of batch normalisation into blocks, and these into groups, as backends/opencl/norm does.
#pragma once

#include <algorithm>
#include <vector>

#include "call.hpp"
#include "isa/norm.hpp"

namespace mokume::host {

// Holds two values per column for each block of rows, and merges them. Blocks merge in groups of kFan, groups likewise,
// until at most kFan are left, which merge in order.
class NormParts {
 public:
  NormParts(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), values_(static_cast<size_t>(2 * blocks() * columns)) {}

  // Calls sum(first row, rows, first line, second line) for every block, in parallel.
  template <class Sum>
  void for_each_block(const Call& call, const Sum& sum) {
    call.for_rows(blocks(), kRowsEach * columns_, [&](int64_t from, int64_t to) {
      for (int64_t b = from; b < to; ++b) {
        float* line = values_.data() + 2 * b * columns_;
        sum(b * kRowsEach, std::min(kRowsEach, rows_ - b * kRowsEach), line, line + columns_);
      }
    });
  }

  // Calls merge(blocks, first line, second line) for each group of blocks, level by level, and lastly for the rest with
  // the lines of the result.
  template <class Merge>
  void merge(const Call& call, float* first, float* second, const Merge& merge) {
    NormBlocks all{values_.data(), columns_, 0, blocks(), kRowsEach, rows_};
    std::vector<float> groups;
    while (all.end > kFan) {
      const int64_t count = (all.end + kFan - 1) / kFan;
      groups.resize(static_cast<size_t>(2 * count * columns_));
      call.for_rows(count, kFan * columns_, [&](int64_t from, int64_t to) {
        for (int64_t g = from; g < to; ++g) {
          NormBlocks some = all;
          some.begin = g * kFan;
          some.end = std::min(some.begin + kFan, all.end);
          float* line = groups.data() + 2 * g * columns_;
          merge(some, line, line + columns_);
        }
      });
      values_.swap(groups);
      all = {values_.data(), columns_, 0, count, all.rows_each * kFan, rows_};
    }
    merge(all, first, second);
  }

 private:
  static constexpr int64_t kRowsEach = 64, kFan = 64;  // the same as in backends/opencl/norm/batch_norm.cpp

  int64_t blocks() const { return (rows_ + kRowsEach - 1) / kRowsEach; }

  int64_t rows_, columns_;
  std::vector<float> values_;
};

namespace fast {
// Computes the scale and the shift of each column for a batch_norm that predicts.
void predicting_scale(const Call& call, float* scale, float* shift);
}  // namespace fast

}  // namespace mokume::host
