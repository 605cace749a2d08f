#include "isa/convolution.hpp"

#include "isa/vectors.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

// Returns the windows whose sums in `vectors` vectors each, the weights and a pixel fit into the registers.
constexpr int most_rows(int vectors) {
#if defined(__AVX512F__) || defined(__aarch64__)
  return vectors == 1 ? 12 : 24 / vectors;  // there are 32 registers
#else
  return 12 / vectors;  // there are 16 registers
#endif
}

// Locates the channels of up to three adjacent vectors. The last vector may overlap the one before it.
struct Columns {
  int64_t first, last;
};

template <class Vector, int kVectors>
int64_t channel_of(const Columns& c, int vector) {
  return vector + 1 == kVectors ? c.last : c.first + vector * LanesOf<Vector>::kCount;
}

// Stores windows of fewer channels than lanes. A row of adjacent windows may spill into the next, which is stored
// later.
template <int kRows, int kLanes>
void store_narrow(const WindowRow& w, int64_t at, const float (&sum)[kRows][kLanes]) {
  const bool spills = w.out_step == w.channels && !w.add;
  for (int r = 0; r < kRows; ++r) {
    float* out = w.out + (at + r) * w.out_step;
    if (spills && (w.windows - at - r) * w.channels >= kLanes)
      memcpy(out, sum[r], sizeof sum[r]);
    else
      for (int64_t i = 0; i < w.channels; ++i) out[i] = sum[r][i];
  }
}

template <class Vector>
Vector load_narrow(const float* from, int64_t lanes) {
  float all[LanesOf<Vector>::kCount] = {};
  for (int64_t i = 0; i < lanes; ++i) all[i] = from[i];
  return LanesOf<Vector>::load(all);
}

template <class Vector, int kRows, int kVectors>
inline void start(const WindowRow& w, const Columns& c, int64_t at, Vector (&sum)[kRows][kVectors]) {
  using Of = LanesOf<Vector>;
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) sum[r][v] = Vector{};
  if (!w.add) return;
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      const float* from = w.out + (at + r) * w.out_step + channel_of<Vector, kVectors>(c, v);
      sum[r][v] = w.channels >= Of::kCount ? Of::load(from) : load_narrow<Vector>(from, w.channels);
    }
}

template <class Vector, int kRows, int kVectors>
inline void finish(const WindowRow& w, const Columns& c, int64_t at, Vector (&sum)[kRows][kVectors]) {
  using Of = LanesOf<Vector>;
  if (w.bias != nullptr)
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      const Vector bias = Of::load(w.bias + channel_of<Vector, kVectors>(c, v));
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) sum[r][v] += bias;
    }
  if (w.relu)
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) sum[r][v] = sum[r][v] < 0.0F ? Vector{} : sum[r][v];  // a NaN passes through
  const int64_t step = w.out_step, first = c.first, last = c.last;
  if constexpr (kVectors == 1 && Of::kCount <= 8)
    if (w.channels < Of::kCount) {
      float copies[kRows][Of::kCount];  // the sums themselves must stay in registers
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) Of::store(sum[r][0], copies[r]);
      return store_narrow<kRows, Of::kCount>(w, at, copies);
    }
  float* out = w.out + at * step;
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r, out += step)
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) Of::store(sum[r][v], out + (v + 1 == kVectors ? last : first + v * Of::kCount));
}

template <class Vector, int kRows, int kVectors>
void tile(const WindowRow& w, const Columns& c, int64_t at) {
  using Of = LanesOf<Vector>;
  constexpr int kQuads = (kRows + 3) / 4;
  Vector sum[kRows][kVectors];
  start<Vector, kRows, kVectors>(w, c, at, sum);
  const int64_t last = c.last - c.first, step = w.x_step, next = w.x_next, all_lines = w.planes * w.lines;
  const float* line = w.x + at * step;
  const float* weight = w.weight + c.first;
  const int64_t x_over = w.x_plane - w.lines * w.x_line,
                weight_over = w.weight_plane - w.lines * w.line * w.weight_step;
  for (int64_t h = 0, left = w.lines; h < all_lines; ++h, line += w.x_line) {
    if (left == 0) {
      line += x_over;
      weight += weight_over;
      left = w.lines;
    }
    --left;
    const float* x[kQuads];  // few registers hold all addresses of a step
    for (int q = 0; q < kQuads; ++q) x[q] = line + 4 * q * step;
    for (int64_t j = 0; j < w.line; ++j, weight += w.weight_step) {
      Vector b[kVectors];
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) b[v] = Of::load(weight + (v + 1 == kVectors ? last : v * Of::kCount));
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const Vector a = splat<Vector>(x[r / 4][r % 4 * step]);
#pragma GCC unroll 3
        for (int v = 0; v < kVectors; ++v) sum[r][v] = fused(a, b[v], sum[r][v]);
      }
#pragma GCC unroll 3
      for (int q = 0; q < kQuads; ++q) x[q] += next;
    }
  }
  finish<Vector, kRows, kVectors>(w, c, at, sum);
}

template <class Vector, int kVectors, int kRows>
void some_rows(const WindowRow& w, const Columns& c, int64_t at, int64_t rows) {
  if (rows == kRows) return tile<Vector, kRows, kVectors>(w, c, at);
  if constexpr (kRows > 1) some_rows<Vector, kVectors, kRows - 1>(w, c, at, rows);
}

// Divides the windows evenly, because a tile of few rows waits for its sums.
template <class Vector, int kVectors>
void tiles(const WindowRow& w, const Columns& c) {
  constexpr int kMost = most_rows(kVectors);
  const int64_t count = (w.windows + kMost - 1) / kMost;
  const int64_t each = w.windows / count, longer = w.windows % count;
  for (int64_t i = 0, at = 0; i < count; ++i) {
    const int64_t rows = each + (i < longer ? 1 : 0);
    some_rows<Vector, kVectors, kMost>(w, c, at, rows);
    at += rows;
  }
}

// An odd number of vectors begins with three, so that no vector stays alone.
template <class Vector>
void all_columns(const WindowRow& w, int64_t columns) {
  constexpr int kLanes = LanesOf<Vector>::kCount;
  const int64_t end = columns - kLanes;
  int64_t first = 0, vectors = (columns + kLanes - 1) / kLanes;
  if (vectors == 1) return tiles<Vector, 1>(w, {0, 0});
  if (vectors % 2 != 0) {
    tiles<Vector, 3>(w, {0, vectors == 3 ? end : 2 * kLanes});
    first = 3 * kLanes;
    vectors -= 3;
  }
  for (; vectors > 0; first += 2 * kLanes, vectors -= 2)
    tiles<Vector, 2>(w, {first, vectors == 2 ? end : first + kLanes});
}

}  // namespace

void convolve(const WindowRow& w);
void convolve(const WindowRow& w) {
  const int64_t columns = padded_channels(w.channels);
  if constexpr (LanesOf<Widest>::kCount == 4) return all_columns<Four>(w, w.channels < 4 ? 4 : w.channels);
  if (columns >= LanesOf<Widest>::kCount) return all_columns<Widest>(w, columns);
  if constexpr (LanesOf<Widest>::kCount > 8)
    if (columns >= 8) return all_columns<Eight>(w, columns);
  tiles<Four, 1>(w, {0, 0});
}

}  // namespace mokume::host::MOKUME_HOST_ISA
