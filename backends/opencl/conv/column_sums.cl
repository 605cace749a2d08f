// Sums the rows of a matrix, first within blocks of rows, then over the blocks in order. The rows of a block are the
// same on every device, so the bits are, too.
#include "common/vector.cl"
#include "conv/column_sums_args.h"

#define AT_ONCE 32  // loads that are under way at the same time

// Requires VW <= columns. One work-item sums VW columns of one block of rows_each rows. The last vector starts early.
__kernel void column_sums(ITEM const ColumnSumsArgs args, __global const float* x, __global float* part) {
  const long block = (long)get_global_id(0), end = min((block + 1) * args.rows_each, args.rows);
  if ((int)get_global_id(1) * VW >= args.columns) return;
  const int c = min((int)get_global_id(1) * VW, args.columns - VW);
  x += args.x.offset + c;
  vec sum = SPLAT(0.0f);
  long r = block * args.rows_each;
#if VW == 1  // a GPU has few work-items here, so each loads many rows at once
  for (; r + AT_ONCE <= end; r += AT_ONCE) {
    float some[AT_ONCE];
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) some[i] = x[(r + i) * args.x.step];
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) sum += some[i];
  }
#endif
  for (; r < end; ++r) sum += VLOAD(0, x + r * args.x.step);
  VSTORE(sum, 0, part + block * args.columns + c);
}

__kernel void sum_blocks(ITEM const SumBlocksArgs args, __global const float* part, __global float* out) {
  const int c = (int)get_global_id(0);
  if (c >= args.columns) return;
  float sum = args.first ? 0.0f : out[args.out_offset + c];
  long b = 0;
  for (; b + AT_ONCE <= args.blocks; b += AT_ONCE) {
    float some[AT_ONCE];
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) some[i] = part[(b + i) * args.columns + c];
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) sum += some[i];
  }
  for (; b < args.blocks; ++b) sum += part[b * args.columns + c];
  out[args.out_offset + c] = sum;
}
