// A loop of multiply-adds (see Loops) over the product of a vector and a matrix.
#pragma once

#include <cstdint>

namespace mokume::host {

// out[c] = out[c] or 0 plus the sum of x[k] * b[k][c]. The columns of b are adjacent.
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
