// Sums the tile of a work-group from the sources that the including file defines: see product.cl. With UNIT, the device's
// matrix units multiply rounded operands.
#ifndef FIRST_BLOCK
#define FIRST_BLOCK ((int)get_global_id(2) * split.blocks_each)
#endif

// The outputs of a work-group.
typedef struct {
  index_t m0, n0;     // the first
  int rows, columns;  // number that exist
  int finish;         // the sums are complete
  float keep;         // factor of what the output held
} tile_t;

#ifdef UNIT
#include "units/unit_sums.cl"
#else
#include "gemm/fp32_sums.cl"
#endif

// The tiles use only the first dimension, because GPUs accept only 65,535 groups in the other dimensions. Without
// `partial`, a group updates the output after each block of terms, which must be multiples of BK. With `partial`, group z sums
// `blocks_each` blocks and stores block i in out[i][rows][columns] for gemm_reduce. A group that sums one block sums any
// number of terms.
INLINE void sum_tile(ITEM const ARGS args, __global const float* a, __global const float* b, __global const float* bias,
                     __global float* out, __local float4* quads) {
  const Product p = args.product;
  const Split split = args.split;
  __local float* shared = (__local float*)quads;
  const int id = get_local_id(1) * GX + get_local_id(0);
  const uint group = get_group_id(0), tiles_n = (uint)((p.n + BN - 1) / BN);
  tile_t tile;
  tile.m0 = (index_t)(group / tiles_n) * BM;
  tile.n0 = (index_t)(group % tiles_n) * BN;
  tile.rows = (int)min((index_t)p.m - tile.m0, (index_t)BM);
  tile.columns = (int)min((index_t)p.n - tile.n0, (index_t)BN);
  tile.keep = p.beta;
  const int block0 = FIRST_BLOCK;
  const long first = split.first + (long)block0 * split.block;
  const int terms = (int)min((long)split.blocks_each * split.block, p.k - first);
  out += split.partial ? block0 * p.m * p.n : p.out.offset;

  a_source from_a;
  b_source from_b;
  a_begin(&from_a, args, a, tile.m0, tile.rows, first, id);
  b_begin(&from_b, args, b, tile.n0, tile.columns, first, id);
  float4 next_a[LOADS(BM)], next_b[LOADS(BN)];
  UNROLL
  for (int l = 0; l < LOADS(BM); ++l) next_a[l] = a_fetch(&from_a, args, l, terms);
  UNROLL
  for (int l = 0; l < LOADS(BN); ++l) next_b[l] = b_fetch(&from_b, args, l, terms);
  int turn = 0;
  for (int left = terms; left > 0;) {
    const int end = max(left - split.block, 0);
    sums_t sums;
    clear(&sums);
    while (left > end) {
      __local float* buffer = shared + turn;
      turn = BUFFER - turn;
      UNROLL
      for (int l = 0; l < LOADS(BM); ++l) put(next_a[l], buffer, place_of(l, BM, A_ALONG_K, id), BM, A_ALONG_K);
      UNROLL
      for (int l = 0; l < LOADS(BN); ++l)
        put(next_b[l], buffer + OPERAND(BM), place_of(l, BN, B_ALONG_K, id), BN, B_ALONG_K);
      barrier(CLK_LOCAL_MEM_FENCE);
      left -= BK;
      a_advance(&from_a, args);
      b_advance(&from_b, args);
      UNROLL
      for (int l = 0; l < LOADS(BM); ++l) next_a[l] = a_fetch(&from_a, args, l, left);
      UNROLL
      for (int l = 0; l < LOADS(BN); ++l) next_b[l] = b_fetch(&from_b, args, l, left);
      multiply(buffer, shared, id, &sums);
    }
    tile.finish = split.last && left <= 0;
    store(&sums, args, tile, bias, out, id);
    tile.keep = 1.0f;
    if (split.partial) out += p.m * p.n;
  }
}
