// Computes linear_update on GPUs along rows longer than SHORT_ROW. Work-item (lane, row) updates the columns lane,
// lane + LANES, ... of EACH rows of the weight, so a lane is a chain of the sums for dx of long_rows.cl. A value of dy
// serves EACH elements, and everything else is in registers: each element of the weight and of the state is loaded once,
// AHEAD turns before its use, and stored once. BATCH is the number of rows of x.
#include "common/common.cl"
#include "linear_update/linear_update_args.h"

#define LANES 16
#define ROWS 8
#define AHEAD 2  // columns that a work-item has loaded before it needs them, to hide the latency of memory
#define PLACES (BATCH > 0 ? BATCH : 1)  // OpenCL C has no empty arrays

typedef struct {
  float w[EACH], s[EACH];
} column_t;

// Loads column c of `rows` rows. Values that do not exist, or are not needed, are zeros.
static column_t load_column(__global const float* weight, long weight_step, __global const float* state, long state_step,
                            int rows, int remembers) {
  column_t column;
  UNROLL
  for (int e = 0; e < EACH; ++e) {
    column.w[e] = e < rows ? weight[e * weight_step] : 0.0f;
    column.s[e] = e < rows && remembers ? state[e * state_step] : 0.0f;
  }
  return column;
}
#define LOAD_COLUMN(c)                                                                                             \
  load_column(w_at + (c), args.weight.step, s_at + (c), args.state.step, (c) < args.columns ? rows : 0, remembers)

__kernel GROUP_OF(LANES, ROWS) void linear_update_lanes(ITEM const LinearUpdateArgs args, __global const float* x,
                                                        __global const float* dy, __global float* weight,
                                                        __global float* state, __global float* dx,
                                                        __local float* shared) {
  const int lane = get_local_id(0), row = get_local_id(1);
  const long i = ((long)get_group_id(0) * ROWS + row) * EACH;
  const int rows = (int)clamp(args.rows - i, (long)0, (long)EACH), remembers = STATEFUL && !args.first;
  float xs[EACH][PLACES], sums[EACH][PLACES];
  UNROLL
  for (int e = 0; e < EACH; ++e) {
    UNROLL
    for (int b = 0; b < BATCH; ++b) {
      xs[e][b] = e < rows ? x[args.x.offset + b * args.x.step + i + e] : 0.0f;
      sums[e][b] = 0.0f;
    }
  }

  __global float* w_at = weight + args.weight.offset + i * args.weight.step;
  __global float* s_at = state + args.state.offset + i * args.state.step;
  column_t next[AHEAD];
  UNROLL
  for (int n = 0; n < AHEAD; ++n) next[n] = LOAD_COLUMN(lane + n * LANES);
  for (long c = lane; c < args.columns; c += LANES) {
    const column_t now = next[0];
    UNROLL
    for (int n = 1; n < AHEAD; ++n) next[n - 1] = next[n];
    next[AHEAD - 1] = LOAD_COLUMN(c + AHEAD * LANES);
    float d[PLACES];
    UNROLL
    for (int b = 0; b < BATCH; ++b) d[b] = dy[args.dy.offset + b * args.dy.step + c];
    UNROLL
    for (int e = 0; e < EACH; ++e) {
      float g = 0.0f;
      UNROLL
      for (int b = 0; b < BATCH; ++b) {
        g = fma(xs[e][b], d[b], g);
        if (WANTED) sums[e][b] = fma(d[b], now.w[e], sums[e][b]);
      }
      float step = fma(args.decay, now.w[e], g);
      if (remembers) step = fma(args.momentum, now.s[e], step);
      if (e < rows) {
        if (STATEFUL) s_at[e * args.state.step + c] = step;
        w_at[e * args.weight.step + c] = fma(-args.lr, step, now.w[e]);
      }
    }
  }

  if (!WANTED) return;
  // The chains of a sum meet in local memory, where work-item (b, row) adds them in halves.
  __local float(*chains)[LANES + 1] = (__local float(*)[LANES + 1])shared + row * BATCH;
  UNROLL
  for (int e = 0; e < EACH; ++e) {
    UNROLL
    for (int b = 0; b < BATCH; ++b) chains[b][lane] = sums[e][b];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < BATCH && e < rows) {
      float all[LANES];
      UNROLL
      for (int k = 0; k < LANES; ++k) all[k] = chains[lane][k];
      UNROLL
      for (int n = LANES / 2; n > 0; n /= 2) {
        UNROLL
        for (int k = 0; k < n; ++k) all[k] += all[k + n];
      }
      const int passes = !args.after_relu || x[args.x.offset + lane * args.x.step + i + e] > 0.0f;
      dx[args.dx.offset + lane * args.dx.step + i + e] = passes ? all[0] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
