// Computes GEMM on GPUs (product.cl). With A_ALONG_K (B_ALONG_K), the terms of an operand's row are contiguous; otherwise,
// the rows of a term are. With A_WIDE, B_WIDE and OUT_WIDE, vectors of four elements are aligned, and the operand holds
// whole vectors. With FAR, offsets within a tile or numbers of rows need 64 bits, which take more registers.
#include "gemm/product.cl"
#include "gemm/tile_args.h"

#ifdef FAR
typedef ulong offset_t;
typedef long index_t;
#else
typedef uint offset_t;
typedef int index_t;
#endif

typedef struct {
  offset_t at;  // bytes
  int rows;     // elements of the vector that exist, if it lies along the rows
} load_t;

// `rows` counts the operand's rows from the first row of the tile. Rows past the end repeat the last rows, because their
// sums are not stored.
INLINE load_t start(Operand o, int rows, place_t place, const int along_k, const int wide) {
  load_t load;
  const int row = min(place.row, along_k || !wide ? rows - 1 : rows - 4);
  load.at = 4 * ((offset_t)row * (offset_t)o.row_step + (offset_t)place.k * (offset_t)o.k_step);
  load.rows = rows - row;
  return load;
}

// Loads a vector whose first `terms` terms exist; the others are zero. `x` points to the first element of the tile.
INLINE float4 fetch(__global const float* x, load_t load, int terms, const int along_k, const int wide) {
  float4 v = (float4)(0.0f);
  __global const float* at = (__global const float*)((__global const char*)x + load.at);
  if (wide) {
    if (terms > 0) v = *(__global const float4*)at;
  } else if (along_k) {
    if (terms > 0) v.x = at[0];
    if (terms > 1) v.y = at[1];
    if (terms > 2) v.z = at[2];
    if (terms > 3) v.w = at[3];
  } else if (terms > 0) {
    v.x = at[0];
    v.y = at[min(1, load.rows - 1)];
    v.z = at[min(2, load.rows - 1)];
    v.w = at[min(3, load.rows - 1)];
  }
  return v;
}

INLINE float4 load_row(__global const float* at, int count) {
#if OUT_WIDE
  return *(__global const float4*)at;
#else
  return (float4)(at[0], count > 1 ? at[1] : 0.0f, count > 2 ? at[2] : 0.0f, count > 3 ? at[3] : 0.0f);
#endif
}

INLINE void store_row(float4 v, __global float* at, int count) {
#if OUT_WIDE
  *(__global float4*)at = v;
#else
  at[0] = v.x;
  if (count > 1) at[1] = v.y;
  if (count > 2) at[2] = v.z;
  if (count > 3) at[3] = v.w;
#endif
}

// The tiles use only the first dimension, because GPUs accept only 65,535 groups in the other dimensions. Without
// `partial`, a group updates the output after each block of KB terms. With `partial`, group z sums `blocks_each` blocks
// and stores block i in out[i][rows][columns] for gemm_reduce.
__kernel GROUP_OF(GX, GY) void gemm_tile(ITEM const GemmTileArgs args, __global const float* a, __global const float* b,
                                         __global const float* bias, __global float* out, __local float4* quads) {
  const Product p = args.product;
  __local float* shared = (__local float*)quads;
  const int tx = get_local_id(0), ty = get_local_id(1), id = ty * GX + tx;
  const uint tile = get_group_id(0), tiles_n = (uint)((p.n + BN - 1) / BN);
  const index_t m0 = (index_t)(tile / tiles_n) * BM, n0 = (index_t)(tile % tiles_n) * BN;
  const int rows = (int)min((index_t)p.m - m0, (index_t)BM), columns = (int)min((index_t)p.n - n0, (index_t)BN);
  const int block0 = (int)get_global_id(2) * args.blocks_each;
  const long first = (long)block0 * KB;
  const int terms = (int)min((long)args.blocks_each * KB, p.k - first);
  out += args.partial ? block0 * p.m * p.n : p.out.offset;
  a += p.a.offset + (long)m0 * p.a.row_step + first * p.a.k_step;
  b += p.b.offset + (long)n0 * p.b.row_step + first * p.b.k_step;

  load_t from_a[LOADS(BM)], from_b[LOADS(BN)];
  float4 next_a[LOADS(BM)], next_b[LOADS(BN)];
  UNROLL
  for (int l = 0; l < LOADS(BM); ++l) {
    const place_t place = place_of(l, BM, A_ALONG_K, id);
    from_a[l] = start(p.a, rows, place, A_ALONG_K, A_WIDE);
    next_a[l] = fetch(a, from_a[l], terms - place.k, A_ALONG_K, A_WIDE);
  }
  UNROLL
  for (int l = 0; l < LOADS(BN); ++l) {
    const place_t place = place_of(l, BN, B_ALONG_K, id);
    from_b[l] = start(p.b, columns, place, B_ALONG_K, B_WIDE);
    next_b[l] = fetch(b, from_b[l], terms - place.k, B_ALONG_K, B_WIDE);
  }
  int turn = 0;
  float keep = p.beta;
  for (int left = terms; left > 0; ) {
    const int end = max(left - KB, 0);
    float4 sum[TM][TN / 4];
    UNROLL
    for (int i = 0; i < TM; ++i) {
      UNROLL
      for (int j = 0; j < TN / 4; ++j) sum[i][j] = (float4)(0.0f);
    }
    while (left > end) {
      __local float* buffer = shared + turn;
      turn = BUFFER - turn;
      UNROLL
      for (int l = 0; l < LOADS(BM); ++l) put(next_a[l], buffer, place_of(l, BM, A_ALONG_K, id), BM, A_ALONG_K);
      UNROLL
      for (int l = 0; l < LOADS(BN); ++l)
        put(next_b[l], buffer + BK * LINE(BM), place_of(l, BN, B_ALONG_K, id), BN, B_ALONG_K);
      barrier(CLK_LOCAL_MEM_FENCE);
      left -= BK;
      a += BK * p.a.k_step;
      b += BK * p.b.k_step;
      UNROLL
      for (int l = 0; l < LOADS(BM); ++l)
        next_a[l] = fetch(a, from_a[l], left - place_of(l, BM, A_ALONG_K, id).k, A_ALONG_K, A_WIDE);
      UNROLL
      for (int l = 0; l < LOADS(BN); ++l)
        next_b[l] = fetch(b, from_b[l], left - place_of(l, BN, B_ALONG_K, id).k, B_ALONG_K, B_WIDE);
      multiply(buffer, tx, ty, sum);
    }
    const int finish = args.last && left <= 0;
    UNROLL
    for (int j = 0; j < TN / 4; ++j) {
      const int n = place_of_sum(4 * j, tx, GX);
      if (n < columns) {
        const float4 more =
            finish && p.biased ? load_row(bias + p.bias_offset + n0 + n, columns - n) : (float4)(0.0f);
        __global float* at = out + (m0 + 4 * ty) * p.out.row_step + n0 + n;
        UNROLL
        for (int i = 0; i < TM; ++i) {
          if (place_of_sum(i, ty, GY) < rows) {
            float4 v = sum[i][j];
            if (!args.partial) v = keep == 0.0f ? p.alpha * v : fma((float4)(p.alpha), v, keep * load_row(at, columns - n));
            if (finish && p.biased) v += more;
            if (finish && p.relu) v = select(v, (float4)(0.0f), v < (float4)(0.0f));  // a NaN passes through
            store_row(v, at, columns - n);
          }
          at += i % 4 == 3 ? (4 * GY - 3) * p.out.row_step : p.out.row_step;
        }
      }
    }
    keep = 1.0f;
    if (args.partial) out += p.m * p.n;
  }
}

// Adds the block sums of a partial gemm_tile to the output in order.
__kernel void gemm_reduce(ITEM const GemmTileArgs args, __global const float* partial, __global const float* bias,
                          __global float* out) {
  const Product p = args.product;
  const long n = get_global_id(0);
  if (n >= p.n) return;
  for (long m = get_global_id(1); m < p.m; m += get_global_size(1)) {
    __global float* at = out + p.out.offset + m * p.out.row_step + n;
    __global const float* from = partial + m * p.n + n;
    const long apart = p.m * p.n;
    float value = p.beta == 0.0f ? p.alpha * *from : fma(p.alpha, *from, p.beta * *at);
    long block = 1;
    for (from += apart; block + 8 <= args.blocks; block += 8) {
      float some[8];
      UNROLL
      for (int i = 0; i < 8; ++i, from += apart) some[i] = *from;
      UNROLL
      for (int i = 0; i < 8; ++i) value = fma(p.alpha, some[i], value);
    }
    for (; block < args.blocks; ++block, from += apart) value = fma(p.alpha, *from, value);
    if (args.last) {
      if (p.biased) value += bias[p.bias_offset + n];
      if (p.relu && value < 0.0f) value = 0.0f;
    }
    *at = value;
  }
}
