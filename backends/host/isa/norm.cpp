#include "isa/norm.hpp"

#include <string.h>

#include "isa/fused.hpp"
#include "isa/independent.hpp"
#include "isa/vectors.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

constexpr int64_t kNormLanes = 16;

// Holds 16 columns in as many vectors as the instruction set needs.
constexpr int kNormVectors = kNormLanes / LanesOf<Widest>::kCount;
struct Lanes {
  Widest at[kNormVectors] = {};
};

// Loads 16 columns, a constant size, or fewer at the end of a row.
inline void load(Lanes& v, const float* p, int64_t n) {
  if (n == kNormLanes)
    memcpy(v.at, p, sizeof v.at);
  else
    memcpy(v.at, p, static_cast<size_t>(n) * sizeof(float));
}
inline void store(const Lanes& v, float* p, int64_t n) { memcpy(p, v.at, static_cast<size_t>(n) * sizeof(float)); }

// Calls vector(i) for each vector.
template <class Vector>
inline void for_vectors(const Vector& vector) {
#pragma GCC unroll 4
  for (int i = 0; i < kNormVectors; ++i) vector(i);
}

// Adds up term(row, first, second) over the rows in kChains chains, which take rows in turn.
template <int kChains, class Term>
inline void column_sums(int64_t rows, Lanes& first, Lanes& second, const Term& term) {
  Lanes a[kChains], b[kChains];
  int64_t r = 0;
  for (; r + kChains <= rows; r += kChains)
#pragma GCC unroll 2
    for (int i = 0; i < kChains; ++i) term(r + i, a[i], b[i]);
  if (r < rows) term(r, a[0], b[0]);
  for_vectors([&](int i) {
    first.at[i] = kChains == 2 ? a[0].at[i] + a[kChains - 1].at[i] : a[0].at[i];
    second.at[i] = kChains == 2 ? b[0].at[i] + b[kChains - 1].at[i] : b[0].at[i];
  });
}

template <class Columns>
inline void by_lanes(int64_t columns, const Columns& each) {
  int64_t c = 0;
  for (; c + kNormLanes <= columns; c += kNormLanes) each(c, kNormLanes);
  if (c < columns) each(c, columns - c);
}

template <int kChains>
void moments(const NormRows& rows, float* mean, float* squares) {
  by_lanes(rows.columns, [&](int64_t c, int64_t n) {
    const float* x = rows.x + c;
    const auto count = static_cast<float>(rows.rows);
    Lanes m, s, unused;
    column_sums<kChains>(rows.rows, m, unused, [&](int64_t r, Lanes& sum, Lanes&) {
      Lanes v;
      load(v, x + r * rows.x_stride, n);
      for_vectors([&](int i) { sum.at[i] += v.at[i]; });
    });
    for_vectors([&](int i) { m.at[i] /= count; });
    column_sums<kChains>(rows.rows, s, unused, [&](int64_t r, Lanes& sum, Lanes&) {
      Lanes v;
      load(v, x + r * rows.x_stride, n);
      for_vectors([&](int i) {
        const Widest d = v.at[i] - m.at[i];
        sum.at[i] = fused(d, d, sum.at[i]);
      });
    });
    store(m, mean + c, n);
    store(s, squares + c, n);
  });
}

template <int kChains>
void products(const NormRows& rows, float* sum, float* product) {
  by_lanes(rows.columns, [&](int64_t c, int64_t n) {
    Lanes mean, scale, shift, s, p;
    load(mean, rows.mean + c, n);
    load(scale, rows.scale + c, n);
    load(shift, rows.shift + c, n);
    column_sums<kChains>(rows.rows, s, p, [&](int64_t r, Lanes& a, Lanes& b) {
      Lanes x, g;
      load(x, rows.x + r * rows.x_stride + c, n);
      load(g, rows.dy + r * rows.dy_stride + c, n);
      if (rows.relu)
        for_vectors([&](int i) { g.at[i] = x.at[i] * scale.at[i] + shift.at[i] > 0.0F ? g.at[i] : Widest{}; });
      for_vectors([&](int i) {
        a.at[i] += g.at[i];
        b.at[i] = fused(g.at[i], x.at[i] - mean.at[i], b.at[i]);
      });
    });
    store(s, sum + c, n);
    store(p, product + c, n);
  });
}

void merge(const NormBlocks& blocks, float* mean, float* squares) {
  const int64_t columns = blocks.columns;
  memset(mean, 0, static_cast<size_t>(columns) * sizeof(float));
  memset(squares, 0, static_cast<size_t>(columns) * sizeof(float));
  float n = 0.0F;
  for (int64_t k = blocks.begin; k < blocks.end; ++k) {
    const float* means = blocks.part + 2 * k * columns;
    const float* more = means + columns;
    const int64_t first = k * blocks.rows_each, end = first + blocks.rows_each;
    const auto rows = static_cast<float>((end < blocks.rows ? end : blocks.rows) - first);
    const float all = n + rows, share = rows / all, both = n * rows / all;
    MOKUME_INDEPENDENT
    for (int64_t c = 0; c < columns; ++c) {
      const float difference = means[c] - mean[c];
      mean[c] = fused(difference, share, mean[c]);
      squares[c] = squares[c] + fused(difference * difference, both, more[c]);
    }
    n = all;
  }
}

void apply(const NormRows& rows) {
  const float *scale = rows.scale, *shift = rows.shift;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* x = rows.x + r * rows.x_stride;
    float* y = rows.out + r * rows.out_stride;
    if (rows.relu) {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) {
        const float v = x[c] * scale[c] + shift[c];
        y[c] = v < 0.0F ? 0.0F : v;  // a NaN passes through
      }
    } else {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) y[c] = x[c] * scale[c] + shift[c];
    }
  }
}

void apply_fused(const NormRows& rows) {
  const float *scale = rows.scale, *shift = rows.shift;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* x = rows.x + r * rows.x_stride;
    float* y = rows.out + r * rows.out_stride;
    MOKUME_INDEPENDENT
    for (int64_t c = 0; c < rows.columns; ++c) y[c] = fused(x[c], scale[c], shift[c]);
  }
}

void grad(const NormRows& rows) {
  const float *scale = rows.scale, *shift = rows.shift, *a = rows.a, *b = rows.b, *constant = rows.c;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const float* x = rows.x + r * rows.x_stride;
    const float* dy = rows.dy + r * rows.dy_stride;
    float* dx = rows.out + r * rows.out_stride;
    if (rows.relu) {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) {
        const float passed = dy[c], g = x[c] * scale[c] + shift[c] > 0.0F ? passed : 0.0F;
        dx[c] = fused(a[c], g, fused(b[c], x[c], constant[c]));
      }
    } else {
      MOKUME_INDEPENDENT
      for (int64_t c = 0; c < rows.columns; ++c) dx[c] = fused(a[c], dy[c], fused(b[c], x[c], constant[c]));
    }
  }
}

// Adds lane j to lane j + 8, then in fours, in twos, and the last two.
float sum_of(const Lanes& lanes) {
  float at[kNormLanes];
  store(lanes, at, kNormLanes);
#pragma GCC unroll 4
  for (int half = kNormLanes / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i) at[i] += at[i + half];
  return at[0];
}

void group_moments(const NormGroup& group, float* mean, float* squares) {
  Lanes sum;
  by_lanes(group.each, [&](int64_t c, int64_t n) {
    Lanes v;
    load(v, group.means + c, n);
    for_vectors([&](int i) { sum.at[i] += v.at[i]; });
  });
  const float m = sum_of(sum) / static_cast<float>(group.each);
  const Widest mean_of_all = splat<Widest>(m), pixels = splat<Widest>(static_cast<float>(group.pixels));
  sum = {};
  by_lanes(group.each, [&](int64_t c, int64_t n) {
    Lanes d, more;
    load(d, group.means + c, n);
    for_vectors([&](int i) { d.at[i] -= mean_of_all; });
    if (n < kNormLanes) {  // lanes without a channel add nothing
      Lanes some;
      load(some, reinterpret_cast<const float*>(d.at), n);
      d = some;
    }
    if (group.squares != nullptr) load(more, group.squares + c, n);
    for_vectors([&](int i) { sum.at[i] = fused(d.at[i] * pixels, d.at[i], sum.at[i]) + more.at[i]; });
  });
  *mean = m;
  *squares = sum_of(sum);
}

float dot(const float* a, const float* b, int64_t n) {
  Lanes sum;
  by_lanes(n, [&](int64_t c, int64_t count) {
    Lanes u, v;
    load(u, a + c, count);
    load(v, b + c, count);
    for_vectors([&](int i) { sum.at[i] = fused(u.at[i], v.at[i], sum.at[i]); });
  });
  return sum_of(sum);
}

}  // namespace

extern const NormLoops kNormLoops;
const NormLoops kNormLoops = {moments<2>, products<2>, moments<1>, products<1>,   merge,
                              apply,      apply_fused, grad,       group_moments, dot};

}  // namespace mokume::host::MOKUME_HOST_ISA
