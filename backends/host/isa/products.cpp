// The build compiles this file with -ffp-contract=fast, so that sum += a * b is one instruction.
#include "isa/products.hpp"

#include "isa/vectors.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

template <class Vector, int kVectors>
void some_columns(const RowProduct& p, int64_t first) {
  using Of = LanesOf<Vector>;
  Vector sum[kVectors] = {};
  if (p.add)
    for (int v = 0; v < kVectors; ++v) sum[v] = Of::load(p.out + first + v * Of::kCount);
  const float* b = p.b + first;
  for (int64_t k = 0; k < p.k; ++k, b += p.b_stride) {
    const float a = p.x[k * p.x_stride];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[v] += a * Of::load(b + v * Of::kCount);
  }
  for (int v = 0; v < kVectors; ++v) Of::store(sum[v], p.out + first + v * Of::kCount, Of::kCount);
}

}  // namespace

void row_product(const RowProduct& p);
void row_product(const RowProduct& p) {
  constexpr int kLanes = LanesOf<Widest>::kCount;
  int64_t c = 0;
  for (; c + 8 * kLanes <= p.columns; c += 8 * kLanes) some_columns<Widest, 8>(p, c);
  for (; c + 4 * kLanes <= p.columns; c += 4 * kLanes) some_columns<Widest, 4>(p, c);
  for (; c + kLanes <= p.columns; c += kLanes) some_columns<Widest, 1>(p, c);
  for (; c + 4 <= p.columns; c += 4) some_columns<Four, 1>(p, c);
  for (; c < p.columns; ++c) {
    float sum = p.add ? p.out[c] : 0.0F;
    for (int64_t k = 0; k < p.k; ++k) sum += p.x[k * p.x_stride] * p.b[k * p.b_stride + c];
    p.out[c] = sum;
  }
}

}  // namespace mokume::host::MOKUME_HOST_ISA
