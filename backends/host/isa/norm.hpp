// Declares the inner loops of normalisation (sdk/ops/batch_norm.hpp, sdk/ops/group_norm.hpp), under the rules of
// loops.hpp. Strides are in elements. Every sum has the order of backends/opencl/norm, so the bits are the same.
#pragma once

#include <cstdint>

namespace mokume::host {

// Describes the columns of some rows. An output may be the same view as the first input.
struct NormRows {
  const float* dy;
  const float* x;
  float* out;  // y or dx
  int64_t rows, columns, dy_stride, x_stride, out_stride;
  const float *mean, *scale, *shift;
  const float *a, *b, *c;  // coefficients of dx = a * g + b * x + c
  bool relu;
};

// Describes the moments of consecutive blocks of rows. Block k has its means at part + 2 * k * columns and its sums of
// squared differences from them one line of `columns` values further.
struct NormBlocks {
  const float* part;
  int64_t columns, begin, end;
  int64_t rows_each, rows;  // the rows of a block, and of all blocks, of which the last may have fewer
};

// Describes one group of the channels of a row. If squares is null, images have one pixel.
struct NormGroup {
  const float* means;
  const float* squares;
  int64_t pixels, each;
};

struct NormLoops {
  // Computes the mean of each column, and the sum of the squared differences from it. Even and odd rows are added
  // apart.
  void (*block_moments)(const NormRows& rows, float* mean, float* squares);
  // Computes the sums of g and of g * (x - mean) for each column. Even and odd rows are added apart.
  void (*block_products)(const NormRows& rows, float* sum, float* product);
  // Do the same in one chain.
  void (*moments)(const NormRows& rows, float* mean, float* squares);
  void (*products)(const NormRows& rows, float* sum, float* product);
  // Merges the moments of blocks with the formula of Chan, Golub and LeVeque.
  void (*merge)(const NormBlocks& blocks, float* mean, float* squares);
  // Computes y = x * scale + shift, or 0 if that is below 0 and `relu` is set.
  void (*apply)(const NormRows& rows);
  // Computes y = fma(x, scale, shift).
  void (*apply_fused)(const NormRows& rows);
  // Computes dx = a * g + b * x + c.
  void (*grad)(const NormRows& rows);
  // Computes the mean of a group, and the sum of the squared differences from it, in 16 lanes.
  void (*group_moments)(const NormGroup& group, float* mean, float* squares);
  // Computes the sum of a[i] * b[i] in 16 lanes.
  float (*dot)(const float* a, const float* b, int64_t n);
};

}  // namespace mokume::host
