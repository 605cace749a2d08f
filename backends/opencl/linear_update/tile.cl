// Computes linear_update on GPUs. A work-group of LANES x ROWS work-items owns ROWS rows of the weight and processes
// TILE columns at a time. Local memory holds a tile of the weight and of dy. Work-item (lane, row) accumulates dx of
// its row for the batch's rows lane, lane + LANES, ..., and updates the columns lane, lane + LANES, ... of its row. The
// order of sums is that of long_rows.cl or, for at most SHORT_ROW columns, that of short_rows.cl. Consecutive lanes
// access consecutive addresses.
#include "common/common.cl"
#include "linear_update/linear_update_args.h"

#define LANES 16
#define ROWS 8
#define TILE 64
#define PER_LANE (MOST_ROWS / LANES)
#define CHAINS 16  // number of chains of a sum for dx; it divides TILE

__kernel GROUP_OF(LANES, ROWS) void linear_update_tile(ITEM const LinearUpdateArgs args, __global const float* x,
                                                       __global const float* dy, __global float* weight,
                                                       __global float* state, __global float* dx,
                                                       __local float* shared) {
  __local float(*dy_tile)[TILE + 1] = (__local float(*)[TILE + 1])shared, (*weight_tile)[TILE + 1] = dy_tile + MOST_ROWS;
  __local float(*x_tile)[ROWS] = (__local float(*)[ROWS])(weight_tile + ROWS);
  const int lane = get_local_id(0), row = get_local_id(1);
  const long i = (long)get_group_id(0) * ROWS + row;
  const int inside = i < args.rows, short_row = args.columns <= SHORT_ROW;
  float sums[PER_LANE][CHAINS];
  UNROLL
  for (int p = 0; p < PER_LANE; ++p) {
    UNROLL
    for (int k = 0; k < CHAINS; ++k) sums[p][k] = 0.0f;
  }
  for (int b = lane; b < args.batch; b += LANES)
    x_tile[b][row] = inside ? x[args.x.offset + b * args.x.step + i] : 0.0f;

  for (long c0 = 0; c0 < args.columns; c0 += TILE) {
    const int width = (int)min((long)TILE, args.columns - c0);
    __global float* w = weight + args.weight.offset + i * args.weight.step + c0;
    __global float* s = state + args.state.offset + i * args.state.step + c0;
    for (int c = lane; c < width; c += LANES) {
      weight_tile[row][c] = inside ? w[c] : 0.0f;
      for (int b = row; b < args.batch; b += ROWS) dy_tile[b][c] = dy[args.dy.offset + b * args.dy.step + c0 + c];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (args.wanted) {
      UNROLL
      for (int p = 0; p < PER_LANE; ++p) {
        const int b = lane + p * LANES;
        if (b >= args.batch) break;
        for (int c = 0; short_row && c < width; ++c)
          sums[p][0] = fma(dy_tile[b][c], weight_tile[row][c], sums[p][0]);
        for (int c = 0; !short_row && c < width; c += CHAINS) {
          UNROLL
          for (int k = 0; k < CHAINS; ++k)
            if (c + k < width) sums[p][k] = fma(dy_tile[b][c + k], weight_tile[row][c + k], sums[p][k]);
        }
      }
    }
    for (int c = lane; inside && c < width; c += LANES) {
      float g = 0.0f;
      for (int b = 0; b < args.batch; ++b) g = fma(x_tile[b][row], dy_tile[b][c], g);
      const float before = weight_tile[row][c];
      float step = fma(args.decay, before, g);
      if (args.stateful) {
        if (!args.first) step = fma(args.momentum, s[c], step);
        s[c] = step;
      }
      w[c] = fma(-args.lr, step, before);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (!args.wanted || !inside) return;
  UNROLL
  for (int p = 0; p < PER_LANE; ++p) {
    const int b = lane + p * LANES;
    if (b >= args.batch) break;
    UNROLL
    for (int n = CHAINS / 2; n > 0 && !short_row; n /= 2) {
      UNROLL
      for (int k = 0; k < n; ++k) sums[p][k] += sums[p][k + n];
    }
    dx[args.dx.offset + b * args.dx.step + i] = args.after_relu && !(x_tile[b][row] > 0.0f) ? 0.0f : sums[p][0];
  }
}
