// Computes GEMM on CPUs with packed panels and a register tile of MR rows by two vectors per step.
//
// Every element is summed as specified in gemm.hpp: blocks of KB terms, each a chain of fma() from zero, are added to
// the output in order. With CHAIN, a block continues the chain of the one before. MR fills the registers with 2 * MR sums, two vectors of b and a broadcast (32 registers if VW is
// 16). HALF and FEW serve the remaining rows. SMALL and MIDDLE serve batches of 5 and 10, and lines of an image.
#include "common/transpose.cl"
#include "gemm/vector_args.h"

#define FOR_1(X) X(0)
#define FOR_2(X) X(0) X(1)
#define FOR_4(X) FOR_2(X) X(2) X(3)
#if VW == 16
#define MR 14
#define FOR_MR(X) FOR_HALF(X) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
#define HALF 7
#define FOR_HALF(X) FOR_4(X) X(4) X(5) X(6)
#define FEW 4
#define FOR_FEW FOR_4
#define SMALL 5
#define FOR_SMALL(X) FOR_4(X) X(4)
#define MIDDLE 10
#define FOR_MIDDLE(X) FOR_SMALL(X) X(5) X(6) X(7) X(8) X(9)
#else
#define MR 6
#define FOR_MR(X) FOR_4(X) X(4) X(5)
#define HALF 4
#define FOR_HALF FOR_4
#define FEW 2
#define FOR_FEW FOR_2
#define SMALL FEW
#define FOR_SMALL FOR_FEW
#define MIDDLE HALF
#define FOR_MIDDLE FOR_HALF
#endif
#define NR (2 * VW)
#define SHORT 16
#define PACK_PANELS 4

// Stores the first n (even, at most VW) elements of v.
static void store_part(vec v, int n, __global float* out) {
#if VW == 16
  if (n & 16) {
    vstore16(v, 0, out);
    return;
  }
  float8 w = v.lo;
  if (n & 8) {
    vstore8(w, 0, out);
    out += 8;
    w = v.hi;
  }
#elif VW == 8
  float8 w = v;
  if (n & 8) {
    vstore8(w, 0, out);
    return;
  }
#endif
#if VW >= 8
  float4 x = w.lo;
  if (n & 4) {
    vstore4(x, 0, out);
    out += 4;
    x = w.hi;
  }
#else
  float4 x = v;
  if (n & 4) {
    vstore4(x, 0, out);
    return;
  }
#endif
  if (n & 2) vstore2(x.lo, 0, out);
}

// Packs one panel whose rows have contiguous terms, by transposing squares of VW x VW. If a panel is narrower than a
// vector, the next term overwrites the values written after a term. Returns the first term that is not packed.
static int pack_transposed(__global const float* restrict x, long row_step, int live, int terms, __global float* restrict out,
                    const int width) {
  int k = 0;
  for (; k + VW <= terms; k += VW) {
    for (int i0 = 0; i0 < width; i0 += VW) {
      vec r[VW];
      UNROLL
      for (int i = 0; i < VW; ++i) r[i] = i0 + i < live ? VLOAD(0, x + (i0 + i) * row_step + k) : (vec)(0.0f);
      transpose(r);
      UNROLL
      for (int i = 0; i < VW; ++i)
        if (width < VW && (i < VW - 1 || k + VW < terms))
          VSTORE(r[i], 0, out + (k + i) * width);
        else
          store_part(r[i], min(VW, width - i0), out + (k + i) * width + i0);
    }
  }
  return k;
}

// Packs one panel for any steps. Element (i, k) is at x[i * row_step + k * k_step], and rows from `live` on are zero.
static void pack_panel(__global const float* restrict x, long row_step, long k_step, int live, int terms,
                __global float* restrict out, const int width) {
  for (int k = k_step == 1 ? pack_transposed(x, row_step, live, terms, out, width) : 0; k < terms; ++k)
    for (int i = 0; i < width; ++i) out[k * width + i] = i < live ? x[k * k_step + i * row_step] : 0.0f;
}

// Copies rows of op(x) into panels of `width` rows. Panel p holds `width` consecutive elements for each k; rows past
// the end are zero. Element (i, k) of op(x) is at x[i * row_step + k * k_step]. One work-item packs KB terms of
// PACK_PANELS neighbouring panels, so that it reads long runs of x for either order of x.
static void pack(ITEM __global const float* restrict x, long row_step, long k_step, long rows, long k_size,
          __global float* restrict out, const int width) {
  const long k0 = (long)get_global_id(0) * KB;
  const int terms = (int)min((long)KB, k_size - k0);
  long row = (long)get_global_id(1) * PACK_PANELS * width;
  const long last = min(rows, row + PACK_PANELS * width);
  x += k0 * k_step;
  if (row_step == 1) {
    const long whole = row + (last - row) / width * width;
    for (int k = 0; k < terms; ++k)
      for (long r = row; r < whole; r += width) {
        __global const float* from = x + k * k_step + r;
        __global float* to = out + r * k_size + (k0 + k) * width;
        int i = 0;
        for (; i + VW <= width; i += VW) VSTORE(VLOAD(0, from + i), 0, to + i);
        for (; i < width; i += 2) vstore2(vload2(0, from + i), 0, to + i);
      }
    row = whole;
  }
  for (; row < last; row += width) {
    const int live = (int)min((long)width, rows - row);
    __global const float* from = x + row * row_step;
    __global float* to = out + row * k_size + k0 * width;
    pack_panel(from, row_step, k_step, live, terms, to, width);
  }
}

#define PACK_KERNEL(name, width)                                                                        \
  __kernel ONE_ITEM void name(ITEM const PackArgs args, __global const float* x, __global float* out) { \
    pack(THIS_ITEM x + args.x.offset, args.x.row_step, args.x.k_step, args.rows, args.k, out, width);   \
  }
PACK_KERNEL(pack_a, MR)
PACK_KERNEL(pack_b, NR)
PACK_KERNEL(pack_short, SHORT)

// Returns the number of rows to process next if `rest` rows are left: at most 3 more than `rest`.
static int rows_of(int rest) { return rest >= MR || rest > HALF + FEW ? MR : rest > 2 * FEW ? HALF : FEW; }

// Describes the epilogue, which adds the bias of a column and sets negative values to 0. A NaN stays a NaN.
typedef struct {
  __global const float* bias;
  int biased, relu;
} epilogue_t;
static epilogue_t epilogue(__global const float* bias, Product p) {
  epilogue_t e;
  e.bias = bias + p.bias_offset;
  e.biased = p.biased;
  e.relu = p.relu;
  return e;
}
static float finished(float value, epilogue_t e, long column) {
  const float sum = e.biased ? value + e.bias[column] : value;
  return e.relu && sum < 0.0f ? 0.0f : sum;
}

static void finish_row(__global float* out, epilogue_t e, long column, long columns) {
  long c = 0;
  for (; c + VW <= columns; c += VW) {
    const vec value = VLOAD(0, out + c), sum = e.biased ? value + VLOAD(0, e.bias + column + c) : value;
    VSTORE(e.relu ? (sum < 0.0f ? SPLAT(0.0f) : sum) : sum, 0, out + c);
  }
  for (; c < columns; ++c) out[c] = finished(out[c], e, column + c);
}

// Computes one register tile: `terms` terms of MR neighbours in a, a_step apart along k, times NR columns of b, whose
// terms are b_step apart. Adds the sums to the elements of out in rows below `rows` and columns [j0, j1). Element (i,
// j) is at out[i * out_i + j * out_j]. With CHAIN, the sums begin with these elements unless beta is 0, and alpha is 1.
static void tile(__global const float* restrict a, long a_step, __global const float* restrict b, long b_step, int terms,
          __global float* restrict out, long out_i, long out_j, int rows, int j0, int j1, float alpha, float beta,
          int first) {
#define ZERO(i) vec s##i##0 = (vec)(0.0f), s##i##1 = (vec)(0.0f);
#define TOUCH(i)                                   \
  if (i < rows) {                                  \
    FETCH_TO_WRITE(out + i * out_i);            \
    FETCH_TO_WRITE(out + i * out_i + NR - 1);   \
  }
#define STEP(i)                                    \
  {                                                \
    const vec ai = (vec)(a[i]);                    \
    s##i##0 = fma(ai, b0, s##i##0);                \
    s##i##1 = fma(ai, b1, s##i##1);                \
  }
#define SET(i)                                                  \
  VSTORE((vec)(alpha) * s##i##0, 0, out + i * out_i);        \
  VSTORE((vec)(alpha) * s##i##1, 1, out + i * out_i);
#define ADD(i)                                                                                              \
  VSTORE(fma((vec)(alpha), s##i##0, (vec)(keep) * VLOAD(0, out + i * out_i)), 0, out + i * out_i);    \
  VSTORE(fma((vec)(alpha), s##i##1, (vec)(keep) * VLOAD(1, out + i * out_i)), 1, out + i * out_i);
#define SPILL(i)                 \
  VSTORE(s##i##0, 2 * i, edge);  \
  VSTORE(s##i##1, 2 * i + 1, edge);

#define BEGIN(i)                                 \
  s##i##0 = VLOAD(0, out + i * out_i);           \
  s##i##1 = VLOAD(1, out + i * out_i);
#define BEGIN_EDGE(i)                            \
  s##i##0 = VLOAD(2 * i, edge);                  \
  s##i##1 = VLOAD(2 * i + 1, edge);

  const int whole = rows == MR && j0 == 0 && j1 == NR && out_j == 1;
  float edge[MR * NR];
  float keep = first ? beta : 1.0f;
  FOR_MR(ZERO)
  FOR_MR(TOUCH)
#ifdef CHAIN
  if (keep != 0.0f && whole) {
    FOR_MR(BEGIN)
  } else if (keep != 0.0f) {
    for (int i = 0; i < MR; ++i)
      for (int j = 0; j < NR; ++j)
        edge[i * NR + j] = i < rows && j >= j0 && j < j1 ? out[i * out_i + j * out_j] : 0.0f;
    FOR_MR(BEGIN_EDGE)
  }
  keep = 0.0f;
#endif
  for (int k = 0; k < terms; ++k) {
    const vec b0 = VLOAD(0, b), b1 = VLOAD(1, b);
    FOR_MR(STEP)
    FETCH(a + 8 * a_step);
    FETCH(b + 8 * b_step);
    FETCH(b + 8 * b_step + NR - 1);
    a += a_step;
    b += b_step;
  }
  if (whole) {
    if (keep == 0.0f) {
      FOR_MR(SET)
    } else {
      FOR_MR(ADD)
    }
    return;
  }
  FOR_MR(SPILL)
  for (int i = 0; i < rows; ++i)
    for (int j = j0; j < j1; ++j) {
      const float sum = edge[i * NR + j];
      __global float* at = out + i * out_i + j * out_j;
      *at = keep == 0.0f ? alpha * sum : fma(alpha, sum, keep * *at);
    }
}

// One work-item computes block_m x block_n elements of the output (multiples of MR and NR), k-block by k-block, so that
// a block of a and a block of b stay in the cache.
__kernel ONE_ITEM void gemm_packed(ITEM const GemmPackedArgs args, __global const float* restrict a,
                                   __global const float* restrict b, __global float* restrict out,
                                   __global const float* bias) {
  const long k_size = args.product.k, out_step = args.product.out.row_step;
  const long m0 = (long)get_global_id(0) * args.block_m, n0 = (long)get_global_id(1) * args.block_n;
  const long m1 = min(m0 + args.block_m, args.product.m), n1 = min(n0 + args.block_n, args.product.n);
  out += args.product.out.offset;
  for (long k0 = 0; k0 < k_size; k0 += KB) {
    const int terms = (int)min((long)KB, k_size - k0);
    for (long n = n0; n < n1; n += NR)
      for (long m = m0; m < m1; m += MR)
        tile(a + m * k_size + k0 * MR, MR, b + n * k_size + k0 * NR, NR, terms, out + m * out_step + n, out_step, 1,
             (int)min((long)MR, m1 - m), 0, (int)min((long)NR, n1 - n), args.product.alpha, args.product.beta,
             args.first && k0 == 0);
  }
  if (!args.last || !(args.product.biased || args.product.relu)) return;
  const epilogue_t e = epilogue(bias, args.product);
  for (long m = m0; m < m1; ++m) finish_row(out + m * out_step + n0, e, n0, n1 - n0);
}
