// Computes linear_update on GPUs along rows of at most SHORT_ROW columns. A work-group of LANES x ROWS work-items owns
// ROWS rows of the weight. Local memory holds them and dy. Work-item (lane, row) sums dx of its row for the batch's row
// `lane`, in the order of short_rows.cl, and updates the columns lane, lane + LANES, ... of its row.
#include "common/common.cl"
#include "linear_update/linear_update_args.h"

#define LANES 16  // at least MOST_ROWS
#define ROWS 8

__kernel GROUP_OF(LANES, ROWS) void linear_update_tile(ITEM const LinearUpdateArgs args, __global const float* x,
                                                       __global const float* dy, __global float* weight,
                                                       __global float* state, __global float* dx,
                                                       __local float* shared) {
  __local float(*dy_tile)[SHORT_ROW + 1] = (__local float(*)[SHORT_ROW + 1])shared;
  __local float(*weight_tile)[SHORT_ROW + 1] = dy_tile + MOST_ROWS;
  __local float(*x_tile)[ROWS] = (__local float(*)[ROWS])(weight_tile + ROWS);
  const int lane = get_local_id(0), row = get_local_id(1);
  const long i = (long)get_group_id(0) * ROWS + row;
  const int inside = i < args.rows, columns = (int)args.columns;
  __global float* w = weight + args.weight.offset + i * args.weight.step;
  __global float* s = state + args.state.offset + i * args.state.step;
  if (lane < args.batch) x_tile[lane][row] = inside ? x[args.x.offset + lane * args.x.step + i] : 0.0f;
  for (int c = lane; c < columns; c += LANES) {
    weight_tile[row][c] = inside ? w[c] : 0.0f;
    for (int b = row; b < args.batch; b += ROWS) dy_tile[b][c] = dy[args.dy.offset + b * args.dy.step + c];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!inside) return;
  if (args.wanted && lane < args.batch) {
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c) sum = fma(dy_tile[lane][c], weight_tile[row][c], sum);
    dx[args.dx.offset + lane * args.dx.step + i] = args.after_relu && !(x_tile[lane][row] > 0.0f) ? 0.0f : sum;
  }
  for (int c = lane; c < columns; c += LANES) {
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
}
