#include "isa/channels.hpp"

#include "isa/independent.hpp"
#include "isa/vectors.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

using Wide = LanesOf<Widest>;

// Adds x * weight to the sums, where both have one element per channel.
void add_products(float* sums, const float* x, const float* weight, int64_t n) {
  int64_t c = 0;
  for (; c + Wide::kCount <= n; c += Wide::kCount)
    Wide::store(fused(Wide::load(x + c), Wide::load(weight + c), Wide::load(sums + c)), sums + c);
  for (; c < n; ++c) sums[c] = fused(x[c], weight[c], sums[c]);
}

void to_filters(const FilteredPixel& p) {
  if (p.each == 1) return add_products(p.sums, p.x, p.weight, p.channels);
  for (int64_t c = 0; c < p.channels; ++c)
    for (int64_t f = c * p.each; f < (c + 1) * p.each; ++f) p.sums[f] = fused(p.x[c], p.weight[f], p.sums[f]);
}

void to_channels(const FilteredPixel& p) {
  if (p.each == 1) return add_products(p.sums, p.x, p.weight, p.channels);
  for (int64_t c = 0; c < p.channels; ++c) {
    float sum = p.sums[c];
    for (int64_t f = c * p.each; f < (c + 1) * p.each; ++f) sum = fused(p.x[f], p.weight[f], sum);
    p.sums[c] = sum;
  }
}

template <class Vector, int kVectors>
void sum_columns(const float* x, int64_t rows, int64_t stride, float* sums) {
  using Of = LanesOf<Vector>;
  Vector sum[kVectors] = {};
  for (int64_t r = 0; r < rows; ++r, x += stride)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[v] += Of::load(x + v * Of::kCount);
  for (int v = 0; v < kVectors; ++v) Of::store(sum[v], sums + v * Of::kCount);
}

void sum_rows(const float* x, int64_t rows, int64_t columns, int64_t stride, float* sums) {
  int64_t c = 0;
  for (; c + 4 * Wide::kCount <= columns; c += 4 * Wide::kCount) sum_columns<Widest, 4>(x + c, rows, stride, sums + c);
  for (; c + Wide::kCount <= columns; c += Wide::kCount) sum_columns<Widest, 1>(x + c, rows, stride, sums + c);
  for (; c + 4 <= columns; c += 4) sum_columns<Four, 1>(x + c, rows, stride, sums + c);
  for (; c < columns; ++c) {
    float sum = 0.0F;
    for (int64_t r = 0; r < rows; ++r) sum += x[r * stride + c];
    sums[c] = sum;
  }
}

}  // namespace

extern const ChannelLoops kChannelLoops;
const ChannelLoops kChannelLoops = {to_filters, to_channels, sum_rows};

}  // namespace mokume::host::MOKUME_HOST_ISA
