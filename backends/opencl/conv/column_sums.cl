// Sums the rows of a matrix, first within blocks of rows, then over the blocks in order. The rows of a block are the
// same on every device, so the bits are, too.
#include "common/divide.cl"
#include "common/vector.cl"
#include "conv/column_sums_args.h"

#define AT_ONCE 32

// Returns sum + x[0] + x[step] + ... of `count` values. A GPU has few work-items here, so each loads many values at once.
static float add_in_order(float sum, __global const float* x, long step, long count) {
  long k = 0;
  for (; k + AT_ONCE <= count; k += AT_ONCE) {
    float some[AT_ONCE];
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) some[i] = x[(k + i) * step];
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) sum += some[i];
  }
  for (; k < count; ++k) sum += x[k * step];
  return sum;
}

// Requires VW <= columns. One work-item sums VW columns of one block of rows_each rows. The last vector starts early.
__kernel void column_sums(ITEM const ColumnSumsArgs args, __global const float* x, __global float* part) {
  const long block = (long)get_global_id(0), end = min((block + 1) * args.rows_each, args.rows);
  if ((int)get_global_id(1) * VW >= args.columns) return;
  const int c = min((int)get_global_id(1) * VW, args.columns - VW);
  x += args.x.offset + c;
  const long first = block * args.rows_each;
#if VW == 1
  const float sum = add_in_order(0.0f, x + first * args.x.step, args.x.step, end - first);
#else
  vec sum = SPLAT(0.0f);
  for (long r = first; r < end; ++r) sum += VLOAD(0, x + r * args.x.step);
#endif
  VSTORE(sum, 0, part + block * args.columns + c);
}

__kernel void sum_blocks(ITEM const SumBlocksArgs args, __global const float* part, __global float* out) {
  const int c = (int)get_global_id(0);
  if (c >= args.columns) return;
  const float before = args.first ? 0.0f : out[args.out_offset + c];
  out[args.out_offset + c] = add_in_order(before, part + c, args.columns, args.blocks);
}

// A work-item sums one element.
__kernel void sum_parts(ITEM const SumPartsArgs args, __global const float* parts, __global float* out) {
  const long at = (long)get_global_id(0), row = divide(at, args.columns), each = args.rows * args.columns;
  if (row >= args.rows) return;
  out += args.out.offset + row * args.out.step + (at - row * args.columns);
  *out = args.fresh ? add_in_order(parts[at], parts + each + at, each, args.parts - 1)
                    : add_in_order(*out, parts + at, each, args.parts);
}
