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
    const Vector a = splat<Vector>(p.x[k * p.x_stride]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[v] = fused(a, Of::load(b + v * Of::kCount), sum[v]);
  }
  for (int v = 0; v < kVectors; ++v) Of::store(sum[v], p.out + first + v * Of::kCount, Of::kCount);
}

using Wide = LanesOf<Widest>;

constexpr int64_t kPanel = 2 * Wide::kCount;
static_assert(kPanelColumns % kPanel == 0 && kFewestInPlace >= kPanel);

// Returns the columns of a packed panel: as few as a vector has if there are not more.
constexpr int64_t panel_of(int64_t columns) { return columns <= 4 ? 4 : columns <= 8 && Wide::kCount > 4 ? 8 : kPanel; }

// Returns the rows of a tile whose sums fit into the registers.
constexpr int rows_of_tile(int vectors) {
#if defined(__AVX512F__) || defined(__aarch64__)
  return vectors >= 8 ? 2 : vectors >= 4 ? 6 : 12;
#else
  return vectors >= 8 ? 1 : vectors >= 4 ? 2 : vectors == 2 ? 6 : 12;
#endif
}

template <class Vector>
inline void end_vector(const ProductEnd& e, const float* sum, float* out, int64_t c) {
  using Of = LanesOf<Vector>;
  const Vector alpha = splat<Vector>(e.alpha), s = Of::load(sum + c);
  Vector v = e.beta == 0.0F ? alpha * s : fused(alpha, s, splat<Vector>(e.beta) * Of::load(out + c));
  if (e.bias != nullptr) v += Of::load(e.bias + c);
  if (e.relu) v = v < 0.0F ? Vector{} : v;  // a NaN passes through
  Of::store(v, out + c);
}

void end_row(const ProductEnd& e, const float* sum, float* out, int64_t columns) {
  int64_t c = 0;
  for (; c + Wide::kCount <= columns; c += Wide::kCount) end_vector<Widest>(e, sum, out, c);
  for (; c + 4 <= columns; c += 4) end_vector<Four>(e, sum, out, c);
  for (; c < columns; ++c) {
    float v = e.beta == 0.0F ? e.alpha * sum[c] : fused(e.alpha, sum[c], e.beta * out[c]);
    if (e.bias != nullptr) v += e.bias[c];
    out[c] = e.relu && v < 0.0F ? 0.0F : v;
  }
}

// Locates some columns of the output, and a row of b from the first of them on. A tile drops the first `skip` of its
// columns, which belong to the tile before it.
struct TileColumns {
  const float* b;
  int64_t first, skip, end;
};

// Fetches the outputs of a tile while their sums run.
template <int kRows>
inline void fetch(const ProductBlock& p, const TileColumns& columns, int64_t at) {
  const float* out = p.out + at * p.out_step;
  for (int r = 0; r < kRows; ++r, out += p.out_step) {
    __builtin_prefetch(out + columns.first, 1);
    __builtin_prefetch(out + columns.end - 1, 1);
  }
}

template <class Vector, int kVectors, int kRows>
void product_tile(const ProductBlock& p, const TileColumns& columns, int64_t b_row, int64_t at) {
  using Of = LanesOf<Vector>;
  constexpr int kQuads = (kRows + 3) / 4;
  Vector sum[kRows][kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[r][v] = Vector{};
  fetch<kRows>(p, columns, at);
  const int64_t step = p.a_row, next = p.a_k;
  const float* x[kQuads];  // few registers hold all addresses of a step
  for (int q = 0; q < kQuads; ++q) x[q] = p.a + (at + 4 * q) * step;
  const float* row = columns.b;
  for (int64_t k = 0; k < p.k; ++k, row += b_row) {
    Vector b[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) b[v] = Of::load(row + v * Of::kCount);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const Vector a = splat<Vector>(x[r / 4][r % 4 * step]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[r][v] = fused(a, b[v], sum[r][v]);
    }
#pragma GCC unroll 3
    for (int q = 0; q < kQuads; ++q) x[q] += next;
  }
  float sums[kRows][kVectors * Of::kCount];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) Of::store(sum[r][v], sums[r] + v * Of::kCount);
  const int64_t first = columns.first + columns.skip;
  ProductEnd end = p.end;
  if (end.bias != nullptr) end.bias += first;
  for (int r = 0; r < kRows; ++r)
    end_row(end, sums[r] + columns.skip, p.out + (at + r) * p.out_step + first, columns.end - first);
}

template <class Vector, int kVectors, int kRows>
void some_rows_of_tile(const ProductBlock& p, const TileColumns& columns, int64_t b_row, int64_t at, int64_t rows) {
  if (rows == kRows) return product_tile<Vector, kVectors, kRows>(p, columns, b_row, at);
  if constexpr (kRows > 1) some_rows_of_tile<Vector, kVectors, kRows - 1>(p, columns, b_row, at, rows);
}

// Divides the rows evenly into tiles, because a tile of few rows waits for its sums. Calls each(first, rows).
template <int kMost, class Each>
void for_tiles(int64_t rows, const Each& each) {
  const int64_t count = (rows + kMost - 1) / kMost, fewest = rows / count, longer = rows % count;
  for (int64_t i = 0, at = 0; i < count; ++i) {
    const int64_t some = fewest + (i < longer ? 1 : 0);
    each(at, some);
    at += some;
  }
}

template <class Vector, int kVectors>
void rows_of_columns(const ProductBlock& p, const TileColumns& columns, int64_t b_row, int64_t at, int64_t rows) {
  some_rows_of_tile<Vector, kVectors, rows_of_tile(kVectors)>(p, columns, b_row, at, rows);
}

// With 32 registers, the rows of a tile stay in the first-level cache while the panels pass; with 16, a panel does.
void packed_panels(const ProductBlock& p) {
  const auto panel = [&](int64_t first, int64_t at, int64_t rows) {
    const int64_t columns = p.columns - first < kPanel ? p.columns - first : kPanel;
    const TileColumns some{p.b + first * p.k, first, 0, first + columns};
    if (columns > Wide::kCount) return rows_of_columns<Widest, 2>(p, some, kPanel, at, rows);
    some_rows_of_tile<Widest, 1, rows_of_tile(2)>(p, some, kPanel, at, rows);
  };
#if defined(__AVX512F__)
  for_tiles<rows_of_tile(2)>(p.rows, [&](int64_t at, int64_t rows) {
    for (int64_t first = 0; first < p.columns; first += kPanel) panel(first, at, rows);
  });
#else
  for (int64_t first = 0; first < p.columns; first += kPanel)
    for_tiles<rows_of_tile(2)>(p.rows, [&](int64_t at, int64_t rows) { panel(first, at, rows); });
#endif
}

template <class Vector>
void narrow_panel(const ProductBlock& p) {
  for_tiles<12>(p.rows, [&](int64_t at, int64_t rows) {
    some_rows_of_tile<Vector, 1, 12>(p, {p.b, 0, 0, p.columns}, LanesOf<Vector>::kCount, at, rows);
  });
}

// Returns the first column that tiles of kVectors do not cover, from column c on.
template <int kVectors>
int64_t wide_in_place(const ProductBlock& p, int64_t c) {
  constexpr int64_t kColumns = kVectors * Wide::kCount;
  constexpr int kMost = rows_of_tile(kVectors);
  if (p.rows > 2 * kMost) return c;
  for (; c + kColumns <= p.columns; c += kColumns)
    for_tiles<kMost>(p.rows, [&](int64_t at, int64_t rows) {
      rows_of_columns<Widest, kVectors>(p, {p.b + c, c, 0, c + kColumns}, p.b_row, at, rows);
    });
  return c;
}

void columns_in_place(const ProductBlock& p) {
  int64_t c = wide_in_place<4>(p, wide_in_place<8>(p, 0));
  for (; c < p.columns; c += kPanel) {
    const int64_t first = c + kPanel <= p.columns ? c : p.columns - kPanel;
    const TileColumns some{p.b + first, first, c - first, first + kPanel};
    for_tiles<rows_of_tile(2)>(
        p.rows, [&](int64_t at, int64_t rows) { rows_of_columns<Widest, 2>(p, some, p.b_row, at, rows); });
  }
}

void multiply(const ProductBlock& p) {
  if (!p.packed) return columns_in_place(p);
  if (p.columns <= 4) return narrow_panel<Four>(p);
  if constexpr (Wide::kCount >= 8)
    if (p.columns <= 8) return narrow_panel<Eight>(p);
  packed_panels(p);
}

#if defined(__clang__)
#define MOKUME_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MOKUME_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, Order{__VA_ARGS__})
typedef int32_t Order __attribute__((vector_size(16)));
#endif

// Copies the transpose of rows x columns elements. Fetches rows ahead, because a run along a row is short.
void transpose(const float* from, int64_t from_step, int64_t rows, int64_t columns, float* to, int64_t to_step) {
  using Of = LanesOf<Four>;
  const int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (int64_t r = 0; r < whole_rows; r += 4)
    for (int64_t c = 0; c < whole_columns; c += 4) {
      const float* x = from + r * from_step + c;
      __builtin_prefetch(x + (8 + c / 4 % 4) * from_step);
      const Four p = Of::load(x), q = Of::load(x + from_step), s = Of::load(x + 2 * from_step),
                 t = Of::load(x + 3 * from_step);
      const Four low = MOKUME_SHUFFLE(p, q, 0, 4, 1, 5), high = MOKUME_SHUFFLE(p, q, 2, 6, 3, 7);
      const Four low2 = MOKUME_SHUFFLE(s, t, 0, 4, 1, 5), high2 = MOKUME_SHUFFLE(s, t, 2, 6, 3, 7);
      float* y = to + c * to_step + r;
      Of::store(MOKUME_SHUFFLE(low, low2, 0, 1, 4, 5), y);
      Of::store(MOKUME_SHUFFLE(low, low2, 2, 3, 6, 7), y + to_step);
      Of::store(MOKUME_SHUFFLE(high, high2, 0, 1, 4, 5), y + 2 * to_step);
      Of::store(MOKUME_SHUFFLE(high, high2, 2, 3, 6, 7), y + 3 * to_step);
    }
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r) to[c * to_step + r] = from[r * from_step + c];
}

void pack_panels(const ProductSource& s, float* to) {
  const int64_t width = panel_of(s.columns), whole = s.columns / width * width, rest = s.columns - whole;
  float* const last = to + whole * s.rows;
  if (s.transposed) {
    for (int64_t first = 0; first < whole; first += width)
      transpose(s.from + first * s.step, s.step, width, s.rows, to + first * s.rows, width);
    transpose(s.from + whole * s.step, s.step, rest, s.rows, last, width);
    for (int64_t r = 0; rest > 0 && r < s.rows; ++r)
      for (int64_t c = rest; c < width; ++c) last[r * width + c] = 0.0F;
    return;
  }
  for (int64_t r = 0; r < s.rows; ++r) {
    const float* row = s.from + r * s.step;
    float* panel = to + r * width;
    if (width == kPanel)
      for (int64_t first = 0; first < whole; first += kPanel, panel += kPanel * s.rows)
        memcpy(panel, row + first, kPanel * sizeof(float));
    else
      for (int64_t c = 0; c < whole; ++c) panel[c] = row[c];  // only one panel is narrow
    for (int64_t c = 0; rest > 0 && c < width; ++c) last[r * width + c] = c < rest ? row[whole + c] : 0.0F;
  }
}

void copy_rows(const ProductSource& s, float* to, int64_t to_step) {
  if (s.transposed) return transpose(s.from, s.step, s.columns, s.rows, to, to_step);
  for (int64_t r = 0; r < s.rows; ++r)
    memcpy(to + r * to_step, s.from + r * s.step, static_cast<size_t>(s.columns) * sizeof(float));
}

void add_blocks(const BlockSums& s) {
  for (int64_t b = 0; b < s.blocks; ++b) {
    const bool last = b + 1 == s.blocks;
    const ProductEnd end{s.end.alpha, b == 0 ? s.end.beta : 1.0F, last ? s.end.bias : nullptr, last && s.end.relu};
    end_row(end, s.sums + b * s.apart, s.out, s.columns);
  }
}

// Adds the products of kDotChains columns to the chains of kRows rows.
template <int kRows, int kVectors>
inline void meet(const DotRows& d, const float* row, int64_t column, Widest (&chains)[kRows][kVectors]) {
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const Widest x = Wide::load(row + v * Wide::kCount);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      chains[r][v] = fused(Wide::load(d.others + r * d.step + column + v * Wide::kCount), x, chains[r][v]);
  }
}

float sum_of_chains(float (&chains)[kDotChains]) {
  for (int64_t n = kDotChains / 2; n >= 1; n /= 2)
    for (int64_t i = 0; i < n; ++i) chains[i] += chains[i + n];
  return chains[0];
}

template <int kRows>
void some_dots(const DotRows& d) {
  constexpr int kParts = static_cast<int>(kDotChains) / Wide::kCount;
  Widest chains[kRows][kParts] = {};
  int64_t c = 0;
  for (; c + kDotChains <= d.columns; c += kDotChains) meet<kRows, kParts>(d, d.row + c, c, chains);
  if (c < d.columns) {
    float last[kDotChains] = {};
    memcpy(last, d.row + c, static_cast<size_t>(d.columns - c) * sizeof(float));
    meet<kRows, kParts>(d, last, c, chains);
  }
  for (int r = 0; r < kRows; ++r) {
    float all[kDotChains];
    memcpy(all, chains[r], sizeof all);
    d.out[r * d.out_step] = sum_of_chains(all);
  }
}

void dots(const DotRows& all) {
  constexpr int kMost = 8 * Wide::kCount / static_cast<int>(kDotChains);  // rows whose chains fit into the registers
  DotRows d = all;
  for (; d.rows >= kMost; d.rows -= kMost, d.others += kMost * d.step, d.out += kMost * d.out_step) some_dots<kMost>(d);
  for (; d.rows > 0; --d.rows, d.others += d.step, d.out += d.out_step) some_dots<1>(d);
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
    for (int64_t k = 0; k < p.k; ++k) sum = fused(p.x[k * p.x_stride], p.b[k * p.b_stride + c], sum);
    p.out[c] = sum;
  }
}

extern const ProductLoops kProductLoops;
const ProductLoops kProductLoops = {multiply, pack_panels, copy_rows, add_blocks, dots};

}  // namespace mokume::host::MOKUME_HOST_ISA
