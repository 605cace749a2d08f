// Computes tiles of matrix products by successive oneDNN calls on the calling thread.
//
// The sizes of a tile and of the blocks along k are fixed. The bits therefore depend neither on the number of threads,
// nor on which thread takes a tile, nor on whether a product is cut as ops::kGemmCut allows.
#pragma once

#include "call.hpp"

namespace mokume::host {

constexpr int64_t kTileRows = 256;
constexpr int64_t kTileColumns = 512;

// Describes out = alpha * op(a) * op(b) + beta * out with k > 0 terms, as in sdk/ops/gemm.hpp.
struct Product {
  bool transpose_a, transpose_b;
  float alpha, beta;
  int64_t k;
  View<const float> a, b;
  View<float> out;
  decltype(Loops::row_product) row_product = nullptr;  // if null, oneDNN multiplies all tiles

  // Returns whether row() computes a tile of a single row. row() reads b once, but oneDNN would pack b first.
  bool takes_rows() const { return row_product != nullptr && !transpose_b && alpha == 1 && (beta == 0 || beta == 1); }
  void row(int64_t r, int64_t c, int64_t columns) const noexcept;

  // Computes the tile whose first element is (r, c). Returns false if oneDNN has no memory to pack its operands.
  bool tile(int64_t r, int64_t c) const noexcept;
};

}  // namespace mokume::host
