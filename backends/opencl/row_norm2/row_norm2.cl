// Sums the squares of rows. Lane j of 16 adds the squares of columns j, j + 16, ... by fma() in order, and the lanes
// are then added in halves. Both kernels give the same bits.
#include "common/common.cl"
#include "row_norm2/row_norm2_args.h"

// Runs on CPUs. One work-item processes rows_each rows.
__kernel ONE_ITEM void row_norm2_vector(ITEM const RowNorm2Args args, __global const float* x, __global float* out) {
  const long begin = (long)get_global_id(0) * args.rows_each, end = min(begin + args.rows_each, args.rows);
  for (long r = begin; r < end; ++r) {
    __global const float* row = x + args.x.offset + r * args.x.step;
    float16 lanes = (float16)(0.0f);
    long c = 0;
    for (; c + 16 <= args.columns; c += 16) {
      const float16 v = vload16(0, row + c);
      lanes = fma(v, v, lanes);
    }
    if (c < args.columns) {
      float rest[16];
      for (int j = 0; j < 16; ++j) rest[j] = c + j < args.columns ? row[c + j] : 0.0f;
      const float16 v = vload16(0, rest);
      lanes = fma(v, v, lanes);
    }
    const float8 h8 = lanes.lo + lanes.hi;
    const float4 h4 = h8.lo + h8.hi;
    const float2 h2 = h4.lo + h4.hi;
    out[args.out_offset + r] = h2.x + h2.y;
  }
}

// Runs on GPUs. 16 adjacent work-items process a row, and a group processes 4 rows. The groups use only the first
// dimension, because GPUs accept only 65,535 groups in the second.
__kernel GROUP_OF(16, 4) void row_norm2_scalar(ITEM const RowNorm2Args args, __global const float* x,
                                               __global float* out, __local float* shared) {
  __local float(*sums)[16] = (__local float(*)[16])shared;
  const int lane = get_local_id(0), line = get_local_id(1);
  const long r = (long)get_group_id(0) * 4 + line;
  float sum = 0.0f;
  if (r < args.rows)
    for (long c = lane; c < args.columns; c += 16) {
      const float v = x[args.x.offset + r * args.x.step + c];
      sum = fma(v, v, sum);
    }
  sums[line][lane] = sum;
  for (int half_width = 8; half_width > 0; half_width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_width) sums[line][lane] += sums[line][lane + half_width];
  }
  if (lane == 0 && r < args.rows) out[args.out_offset + r] = sums[line][0];
}
