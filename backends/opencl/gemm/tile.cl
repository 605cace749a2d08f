// Computes GEMM on GPUs. A work-group computes a BM x BN tile of the output, with BK terms at a time in local memory
// and TM x TN sums per work-item. Every element is summed as specified in gemm.hpp, so the bits are those of vector.cl.
//
// Work-item (tx, ty) owns rows ty + i * GY and columns tx + j * GX, so neighbours access neighbouring addresses.
#include "common/common.cl"
#include "gemm/tile_args.h"

#define GX (BN / TN)
#define GY (BM / TM)

// Loads the terms [k0, k0 + BK) of `width` rows starting at `row`; elements past an end are zero. Consecutive
// work-items take consecutive addresses, whichever step is 1. Local element (k, i) is at to[k * (width + 1) + i].
static void load_tile(__global const float* x, long row_step, long k_step, long row, long rows, long k0, long k_end,
               __local float* to, const int width, int id) {
  const int along_k = k_step == 1;
  for (int at = id; at < width * BK; at += GX * GY) {
    const int k = along_k ? at % BK : at / width;
    const int i = along_k ? at / BK : at % width;
    const int inside = row + i < rows && k0 + k < k_end;
    to[k * (width + 1) + i] = inside ? x[(row + i) * row_step + (k0 + k) * k_step] : 0.0f;
  }
}

// The tiles use only the first dimension, because GPUs accept only 65,535 groups in the other dimensions. Without
// `partial`, a group updates the output after each block of KB terms. With `partial`, group z sums `blocks_each` blocks
// and stores block i in out[i][rows][columns] for gemm_reduce.
__kernel GROUP_OF(GX, GY) void gemm_tile(ITEM const GemmTileArgs args, __global const float* a, __global const float* b,
                                         __global float* out, __local float* ta) {
  __local float* tb = ta + BK * (BM + 1);
  const int tx = get_local_id(0), ty = get_local_id(1), id = ty * GX + tx;
  const uint tile = get_group_id(0), tiles_n = (uint)((args.product.n + BN - 1) / BN);
  const long m0 = (long)(tile / tiles_n) * BM, n0 = (long)(tile % tiles_n) * BN;
  const long first = (long)get_global_id(2) * args.blocks_each * KB;
  const long last = min(first + args.blocks_each * KB, args.product.k);
  a += args.product.a.offset;
  b += args.product.b.offset;
  out += args.partial ? first / KB * args.product.m * args.product.n : args.product.out.offset;

  for (long block = first; block < last; block += KB) {
    const long end = min(block + KB, last);
    float sum[TM][TN];
    UNROLL
    for (int i = 0; i < TM; ++i) {
      UNROLL
      for (int j = 0; j < TN; ++j) sum[i][j] = 0.0f;
    }
    for (long k0 = block; k0 < end; k0 += BK) {
      load_tile(a, args.product.a.row_step, args.product.a.k_step, m0, args.product.m, k0, end, ta, BM, id);
      load_tile(b, args.product.b.row_step, args.product.b.k_step, n0, args.product.n, k0, end, tb, BN, id);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < BK; ++k) {
        float x[TM], y[TN];
        UNROLL
        for (int i = 0; i < TM; ++i) x[i] = ta[k * (BM + 1) + ty + i * GY];
        UNROLL
        for (int j = 0; j < TN; ++j) y[j] = tb[k * (BN + 1) + tx + j * GX];
        UNROLL
        for (int i = 0; i < TM; ++i) {
          UNROLL
          for (int j = 0; j < TN; ++j) sum[i][j] = fma(x[i], y[j], sum[i][j]);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float keep = block == first ? args.product.beta : 1.0f;
    UNROLL
    for (int i = 0; i < TM; ++i) {
      UNROLL
      for (int j = 0; j < TN; ++j) {
        const long m = m0 + ty + i * GY, n = n0 + tx + j * GX;
        if (m < args.product.m && n < args.product.n) {
          __global float* at = out + m * args.product.out.row_step + n;
          if (args.partial)
            *at = sum[i][j];
          else
            *at = keep == 0.0f ? args.product.alpha * sum[i][j] : fma(args.product.alpha, sum[i][j], keep * *at);
        }
      }
    }
    if (args.partial) out += args.product.m * args.product.n;
  }
}

// Adds the block sums of a partial gemm_tile to the output in order.
__kernel void gemm_reduce(ITEM const GemmTileArgs args, __global const float* partial, __global float* out) {
  const long n = get_global_id(0);
  if (n >= args.product.n) return;
  for (long m = get_global_id(1); m < args.product.m; m += get_global_size(1)) {
    __global float* at = out + args.product.out.offset + m * args.product.out.row_step + n;
    float value = args.product.beta == 0.0f
                      ? args.product.alpha * partial[m * args.product.n + n]
                      : fma(args.product.alpha, partial[m * args.product.n + n], args.product.beta * *at);
    for (long block = 1; block < args.blocks; ++block)
      value = fma(args.product.alpha, partial[(block * args.product.m + m) * args.product.n + n], value);
    *at = value;
  }
}
