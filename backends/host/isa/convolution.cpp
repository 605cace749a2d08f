// The build compiles this file with -ffp-contract=fast, so that sum += a * b is one instruction.
#include "isa/convolution.hpp"

#include "isa/vectors.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kMostRows = 12;  // rows of two vectors each fit into 32 registers
#else
constexpr int kMostRows = 6;  // rows of two vectors each fit into 16 registers
#endif

// Locates the channels that one or two vectors cover. The first vector begins at channel `first`, and the second begins
// `next` channels later. They may overlap.
struct Columns {
  int64_t first, next;
};

// Computes `live` windows, at most kRows, from window `at` on.
template <class Vector, int kRows, int kVectors>
void tile(const WindowRow& w, const Columns& c, int64_t at, int64_t live) {
  using Of = LanesOf<Vector>;
  Vector sum[kRows][kVectors] = {};
  const float* line = w.x + at * w.x_step;
  const float* weight = w.weight + c.first;
  for (int64_t h = 0; h < w.lines; ++h, line += w.x_line) {
    const float* x = line;
    for (int64_t j = 0; j < w.line; ++j, ++x, weight += w.weight_step) {
      Vector b[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) b[v] = Of::load(weight + v * c.next);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const float a = x[r * w.x_step];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sum[r][v] += a * b[v];
      }
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    if (r >= live) break;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const int64_t channel = c.first + v * c.next;
      Vector y = sum[r][v];
      if (w.bias != nullptr) y += Of::load(w.bias + channel);
      if (w.relu) y = y < 0.0F ? Vector{} : y;  // this form lets a NaN pass through
      Of::store(y, w.out + (at + r) * w.channels + channel, w.channels < Of::kCount ? w.channels : Of::kCount);
    }
  }
}

template <class Vector, int kVectors>
void tiles(const WindowRow& w, const Columns& c) {
  for (int64_t at = 0; at < w.windows; at += kMostRows) {
    const int64_t live = w.windows - at;
    if (live > kMostRows * 2 / 3)
      tile<Vector, kMostRows, kVectors>(w, c, at, live);
    else if (live > kMostRows / 3)
      tile<Vector, kMostRows * 2 / 3, kVectors>(w, c, at, live);
    else if (live > 1)
      tile<Vector, kMostRows / 3, kVectors>(w, c, at, live);
    else
      tile<Vector, 1, kVectors>(w, c, at, live);
  }
}

template <class Vector>
void all_columns(const WindowRow& w, int64_t columns) {
  constexpr int kLanes = LanesOf<Vector>::kCount;
  for (int64_t first = 0; first < columns; first += 2 * kLanes) {
    const int64_t rest = columns - first;
    if (rest > kLanes)
      tiles<Vector, 2>(w, {first, rest < 2 * kLanes ? rest - kLanes : kLanes});
    else
      tiles<Vector, 1>(w, {columns - kLanes, 0});
  }
}

}  // namespace

void convolve(const WindowRow& w);
void convolve(const WindowRow& w) {
  const int64_t columns = padded_channels(w.channels);
  if (columns >= LanesOf<Widest>::kCount) return all_columns<Widest>(w, columns);
  if (columns >= LanesOf<Eight>::kCount) return all_columns<Eight>(w, columns);
  all_columns<Four>(w, columns);
}

}  // namespace mokume::host::MOKUME_HOST_ISA
