// Declares loops of multiply-adds (see Loops) over products of matrices.
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

// Describes out = alpha * sum, or fma(alpha, sum, beta * out) if beta is not 0; then + bias, then the activation.
struct ProductEnd {
  float alpha, beta;
  const float* bias;  // null if there is none
  bool relu;
};

constexpr int64_t kBlockTerms = 256;    // docs/explained/numbers.md: terms of a chain in a product of matrices
constexpr int64_t kPanelColumns = 32;   // a packed matrix has room for a multiple of these columns
constexpr int64_t kFewestInPlace = 32;  // a matrix with fewer columns must be packed

// Describes the product of one block of terms. Element (i, k) of a is at a[i * a_row + k * a_k]. The rows of b are
// adjacent columns, b_row apart, unless they are packed.
struct ProductBlock {
  const float* a;
  int64_t a_row, a_k;
  const float* b;
  int64_t b_row;
  bool packed;
  int64_t rows, columns, k;
  float* out;
  int64_t out_step;
  ProductEnd end;
};

// Describes a matrix of `rows` x `columns` elements: (r, c) is at from[r * step + c], or at from[c * step + r] if it is
// transposed.
struct ProductSource {
  const float* from;
  int64_t step;
  bool transposed;
  int64_t rows, columns;
};

// Describes sums of blocks of terms for a row of `columns` outputs. Those of block b are at sums[b * apart].
struct BlockSums {
  const float* sums;
  int64_t apart, blocks, columns;
  float* out;
  ProductEnd end;
};

constexpr int64_t kDotChains = 16;  // docs/explained/numbers.md: chains of a sum along a row

// Describes the products of a row with `rows` other rows, which are `step` apart and continue with zeros up to a
// multiple of kDotChains columns. The results are out_step apart.
struct DotRows {
  const float* row;
  const float* others;
  int64_t step, rows, columns;
  float* out;
  int64_t out_step;
};

struct ProductLoops {
  // Every sum is one chain in the order of the terms.
  void (*multiply)(const ProductBlock& block);
  // Copies a matrix as multiply() reads a packed b: to `to` with room for rows * columns, rounded up to kPanelColumns.
  void (*pack)(const ProductSource& source, float* to);
  // Copies a matrix to rows that are to_step apart.
  void (*copy)(const ProductSource& source, float* to, int64_t to_step);
  // Adds up the blocks in order.
  void (*add_blocks)(const BlockSums& sums);
  // Column c of a product belongs to chain c % kDotChains. The chains are added in halves.
  void (*dots)(const DotRows& rows);
};

}  // namespace mokume::host
