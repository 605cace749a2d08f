#include "isa/filtering.hpp"

#include "isa/vectors.hpp"

namespace mokume::host::MOKUME_HOST_ISA {
namespace {

constexpr float kP = 0.70710678118654752440F, kQ = 1.41421356237309504880F;

using Of = LanesOf<Widest>;

// Transform six pixels, three weights or six sums. t[i] or y[i] applies row i of the transform's matrix.
inline void pixels_1d(const Widest (&d)[6], Widest (&t)[6]) {
  t[0] = d[0] + d[4] - 2.5F * d[2];
  const Widest even_p = d[4] - 2.0F * d[2], odd_p = kP * (d[3] - 2.0F * d[1]);
  t[1] = even_p + odd_p;
  t[2] = even_p - odd_p;
  const Widest even_q = d[4] - 0.5F * d[2], odd_q = kQ * (d[3] - 0.5F * d[1]);
  t[3] = even_q + odd_q;
  t[4] = even_q - odd_q;
  t[5] = d[1] + d[5] - 2.5F * d[3];
}

inline void weights_1d(const Widest (&g)[3], Widest (&t)[6]) {
  t[0] = g[0];
  const Widest even_p = (g[0] + 0.5F * g[2]) * (-2.0F / 3), odd_p = (-2.0F / 3 * kP) * g[1];
  t[1] = even_p + odd_p;
  t[2] = even_p - odd_p;
  const Widest even_q = (g[0] + 2.0F * g[2]) * (1.0F / 6), odd_q = (1.0F / 6 * kQ) * g[1];
  t[3] = even_q + odd_q;
  t[4] = even_q - odd_q;
  t[5] = g[2];
}

inline void outputs_1d(const Widest (&m)[6], Widest (&y)[4]) {
  const Widest sum_p = m[1] + m[2], difference_p = m[1] - m[2], sum_q = m[3] + m[4], difference_q = m[3] - m[4];
  y[0] = m[0] + sum_p + sum_q;
  y[1] = kP * difference_p + kQ * difference_q;
  y[2] = 0.5F * sum_p + 2.0F * sum_q;
  y[3] = m[5] + 0.5F * kP * difference_p + 2.0F * kQ * difference_q;
}

// Calls each(channel) for vectors that cover the channels. The last vector may overlap the one before it.
template <class Each>
inline void by_vectors(int64_t channels, const Each& each) {
  for (int64_t c = 0; c < channels; c += Of::kCount) each(c + Of::kCount <= channels ? c : channels - Of::kCount);
}

void weights(const FilterWeights& w, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; ++k)
    by_vectors(w.columns, [&](int64_t c) {
      const float* weight = w.weight + k * w.weight_step + c;
      float* out = w.out + k * w.columns + c;
      Widest t[6][3];
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) {
        Widest g[3], column[6];
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) g[i] = Of::load(weight + (3 * i + j) * w.terms * w.weight_step);
        weights_1d(g, column);
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) t[i][j] = column[i];
      }
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) {
        Widest row[6];
        weights_1d(t[i], row);
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j) Of::store(row[j], out + (6 * i + j) * w.apart);
      }
    });
}

// Loads column j of the pixels of a tile.
inline void load_column(const FilterPixels& tile, const float* corner, bool inside, int j, Widest (&d)[6]) {
  const bool here = inside || (tile.left + j >= 0 && tile.left + j < tile.width);
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) {
    const bool pixel = here && (inside || (tile.top + i >= 0 && tile.top + i < tile.height));
    d[i] = pixel ? Of::load(corner + (i * tile.width + j) * tile.channels) : Widest{};
  }
}

void pixels(const FilterPixels& tile) {
  const bool inside = tile.top >= 0 && tile.left >= 0 && tile.top + 6 <= tile.height && tile.left + 6 <= tile.width;
  by_vectors(tile.channels, [&](int64_t c) {
    const float* corner = tile.image + (tile.top * tile.width + tile.left) * tile.channels + c;
    Widest t[6][6];
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      Widest d[6], column[6];
      load_column(tile, corner, inside, j, d);
      pixels_1d(d, column);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) t[i][j] = column[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      Widest row[6];
      pixels_1d(t[i], row);
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) Of::store(row[j], tile.out + (6 * i + j) * tile.apart + c);
    }
  });
}

void outputs(const FilterOutputs& tile) {
  by_vectors(tile.channels, [&](int64_t c) {
    const float* sums = tile.sums + c;
    Widest t[4][6];
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      Widest m[6], column[4];
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) m[i] = Of::load(sums + (6 * i + j) * tile.apart);
      outputs_1d(m, column);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) t[i][j] = column[i];
    }
    const bool biased = tile.bias != nullptr;
    const Widest bias = biased ? Of::load(tile.bias + c) : Widest{};
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (i >= tile.rows) break;
      Widest y[4];
      outputs_1d(t[i], y);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        if (j >= tile.columns) break;
        Widest value = biased ? y[j] + bias : y[j];
        if (tile.relu) value = value < 0.0F ? Widest{} : value;  // this form lets a NaN pass through
        Of::store(value, tile.out + i * tile.line + j * tile.step + c);
      }
    }
  });
}

}  // namespace

extern const FilteringLoops kFilteringLoops;
const FilteringLoops kFilteringLoops = {weights, pixels, outputs};

}  // namespace mokume::host::MOKUME_HOST_ISA
