// Declares a loop of multiply-adds (see Loops) over the product of a vector and a matrix.
#pragma once

#include <cstdint>

namespace mokume::host {

// Describes out[c] = the sum of x[k] * b[k][c], plus the old out[c] if `add` is set. The columns of b are adjacent.
struct RowProduct {
  const float* x;
  int64_t x_stride, k;
  const float* b;
  int64_t b_stride;
  float* out;
  int64_t columns;
  bool add;
};

}  // namespace mokume::host
