// The build compiles this file once per instruction set, which SOLVER_ISA names. The sums have the order of
// kernels/sparse.cl.
#include "sparse/sparse_native.hpp"

#include "native.hpp"

namespace mokume::svc::SOLVER_ISA {

void sparse_products(const float* tile, int64_t lanes, const SparseView& y, int64_t rows, float* out,
                     int64_t ld) noexcept {
  for (int64_t r = 0; r < rows; ++r) {
    Floats sums[kVectors] = {};
    for (int64_t i = y.starts[r]; i < y.starts[r + 1]; ++i) {
      const float* const with = tile + y.column[i] * kTileRows;
      const Floats value = spread(y.x[i]);
      for (int64_t v = 0; v < kVectors; ++v) sums[v] = fused(value, at(with, v), sums[v]);
    }
    for (int64_t t = 0; t < lanes; ++t) out[t * ld + r] = sums[t / kLanes][t % kLanes];
  }
}

}  // namespace mokume::svc::SOLVER_ISA

#if defined(SOLVER_DISPATCH)
namespace mokume::svc {

SparseFunction sparse_native() { return SOLVER_BEST(sparse_products); }

}  // namespace mokume::svc
#endif
