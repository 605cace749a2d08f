// Declares the native version of kernels/sparse.cl, for backends without kernels.
#pragma once

#include <cstdint>

#include "per_isa.hpp"

namespace mokume::svc {

// Refers to sparse rows; see SparseRows.
struct SparseView {
  const int64_t* starts;
  const int32_t* column;
  const float* x;
};

inline constexpr int64_t kTileRows = 16;

// Writes the products of the first `lanes` rows of a tile, which has the value of row t in a column c at
// tile[c * kTileRows + t], with the rows [0, rows) of y to out[t * ld + row]. A product is a sum of fp32 fma in
// ascending order of the columns.
using SparseFunction = void (*)(const float* tile, int64_t lanes, const SparseView& y, int64_t rows, float* out,
                                int64_t ld) noexcept;

// Returns the function for the best instruction set of this CPU. All instruction sets give the same bits.
SparseFunction sparse_native();

SVC_PER_ISA(void sparse_products(const float* tile, int64_t lanes, const SparseView& y, int64_t rows, float* out,
                                 int64_t ld) noexcept)

}  // namespace mokume::svc
