// Sums the tile of a work-group from the sources that the including file defines: see product.cl.
#ifndef FIRST_BLOCK
#define FIRST_BLOCK ((int)get_global_id(2) * split.blocks_each)
#endif

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
INLINE void sum_tile(ITEM const ARGS args, __global const float* a, __global const float* b, __global const float* bias,
                     __global float* out, __local float4* quads) {
  const Product p = args.product;
  const Split split = args.split;
  __local float* shared = (__local float*)quads;
  const int tx = get_local_id(0), ty = get_local_id(1), id = ty * GX + tx;
  const uint tile = get_group_id(0), tiles_n = (uint)((p.n + BN - 1) / BN);
  const index_t m0 = (index_t)(tile / tiles_n) * BM, n0 = (index_t)(tile % tiles_n) * BN;
  const int rows = (int)min((index_t)p.m - m0, (index_t)BM), columns = (int)min((index_t)p.n - n0, (index_t)BN);
  const int block0 = FIRST_BLOCK;
  const long first = split.first + (long)block0 * KB;
  const int terms = (int)min((long)split.blocks_each * KB, p.k - first);
  out += split.partial ? block0 * p.m * p.n : p.out.offset;

  a_source from_a;
  b_source from_b;
  a_begin(&from_a, args, a, m0, rows, first, id);
  b_begin(&from_b, args, b, n0, columns, first, id);
  float4 next_a[LOADS(BM)], next_b[LOADS(BN)];
  UNROLL
  for (int l = 0; l < LOADS(BM); ++l) next_a[l] = a_fetch(&from_a, args, l, terms);
  UNROLL
  for (int l = 0; l < LOADS(BN); ++l) next_b[l] = b_fetch(&from_b, args, l, terms);
  int turn = 0;
  float keep = p.beta;
  for (int left = terms; left > 0;) {
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
      a_advance(&from_a, args);
      b_advance(&from_b, args);
      UNROLL
      for (int l = 0; l < LOADS(BM); ++l) next_a[l] = a_fetch(&from_a, args, l, left);
      UNROLL
      for (int l = 0; l < LOADS(BN); ++l) next_b[l] = b_fetch(&from_b, args, l, left);
      multiply(buffer, tx, ty, sum);
    }
    const int finish = split.last && left <= 0;
    UNROLL
    for (int j = 0; j < TN / 4; ++j) {
      const int n = place_of_sum(4 * j, tx, GX);
      if (n < columns) {
        const float4 more =
            finish && p.biased ? load_row(bias + p.bias_offset + n0 + n, columns - n) : (float4)(0.0f);
        const long first_row = (m0 + 4 * ty) * p.out.row_step + n0 + n;
        __global float* at = out + first_row;
#ifdef MASKS
        __global const float* mask = bias + p.bias_offset + first_row;
#endif
        UNROLL
        for (int i = 0; i < TM; ++i) {
          if (place_of_sum(i, ty, GY) < rows) {
            float4 v = sum[i][j];
            if (!split.partial) v = keep == 0.0f ? p.alpha * v : fma((float4)(p.alpha), v, keep * load_row(at, columns - n));
            if (finish && p.biased) v += more;
            if (finish && p.relu == RELU) v = select(v, (float4)(0.0f), v < (float4)(0.0f));  // a NaN passes through
#ifdef MASKS
            if (finish && p.relu == RELU_GRAD)
              v = select((float4)(0.0f), v, load_row(mask, columns - n) > (float4)(0.0f));
#endif
            store_row(v, at, columns - n);
          }
          const long step = i % 4 == 3 ? (4 * GY - 3) * p.out.row_step : p.out.row_step;
          at += step;
#ifdef MASKS
          mask += step;
#endif
        }
      }
    }
    keep = 1.0f;
    if (split.partial) out += p.m * p.n;
  }
}
