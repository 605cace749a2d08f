// Multiplies one block, which shows whether a device has the matrix units. `a` has 16 rows of terms, `b` one row of terms
// for each column, and `out` 16 rows of sums.
#include "units/blocks.cl"

#define PROBE_TERMS (UNIT_WORDS * TERMS)

INLINE uint word_of(__global const float* row, int w) {
#if TERMS == 1
  return rounded(row[w]);
#else
  return rounded(row[2 * w]) | rounded(row[2 * w + 1]) << 16;
#endif
}

__kernel GROUP_OF(LANES, 1) void unit_probe(__global const float* a, __global const float* b, __global float* out) {
  __local uint scratch[EMULATED_WORDS];
  const int lane = (int)get_local_id(0);
  uint row[A_WORDS], column[B_WORDS];
  float sum[SUMS];
  UNROLL
  for (int e = 0; e < A_WORDS; ++e) row[e] = word_of(a + A_ROW(lane, e) * PROBE_TERMS, A_WORD(lane, e));
  UNROLL
  for (int e = 0; e < B_WORDS; ++e) column[e] = word_of(b + B_COLUMN(lane, e) * PROBE_TERMS, B_WORD(lane, e));
  UNROLL
  for (int e = 0; e < SUMS; ++e) sum[e] = 0.0f;
  multiply_block(sum, row, column, scratch, lane);
  UNROLL
  for (int e = 0; e < SUMS; ++e) out[SUM_ROW(lane, e) * UNIT_N + SUM_COLUMN(lane, e)] = sum[e];
}
