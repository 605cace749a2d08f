// Computes linear_update on CPUs for rows of the weight that span BLOCKS vectors, at most 3. BATCH, WANTED and STATEFUL
// are as in long_rows.cl. ROWS, a divisor of VW, is the number of rows of the weight that the kernel multiplies by the
// batch at once.
//
// The kernel transposes a block of VW rows of the weight at a time, with a lane for each row, so dx is one chain of
// fma() and nothing is added across lanes. It stores the rows' gradients contiguously. If the weight is contiguous,
// too, the step processes only whole vectors, wherever rows end.
#include "linear_update/linear_update_args.h"
#include "linear_update/step.cl"

#define SUMS (BATCH > 0 ? BATCH : 1)

#if WANTED
// Computes dx of the batch for VW rows of the weight, of which `live` exist. With `whole`, the function may read
// vectors that end after the last row.
static __attribute__((always_inline)) void meet_dy(__global const float* weight, long weight_step, long columns, int live, int whole,
                                                   __global const float* dy, long dy_step, __private vec* sums) {
  UNROLL
  for (int b = 0; b < BATCH; ++b) sums[b] = SPLAT(0.0f);
  UNROLL
  for (int k = 0; k < BLOCKS; ++k) {
    const int count = (int)min((long)VW, columns - k * VW);
    float square[VW * VW];
    for (int i = 0; !whole && i < VW; ++i)
      VSTORE(i < live ? load_first(weight + i * weight_step + k * VW, count, 0) : SPLAT(0.0f), i, square);
    vec block[VW];
    UNROLL
    for (int i = 0; i < VW; ++i)
      block[i] = or_zeros(whole ? VLOAD(k, weight + i * weight_step) : VLOAD(i, square), count);
    transpose(block);
    UNROLL
    for (int c = 0; c < VW; ++c) {
      if (c % 4 == 0 && c >= count) break;  // all further columns are zeros
      UNROLL
      for (int b = 0; b < BATCH; ++b) sums[b] = fma(SPLAT(dy[b * dy_step + k * VW + c]), block[c], sums[b]);
    }
  }
}
#endif

// Computes the gradients of ROWS rows of the weight. `to` receives consecutive rows of `columns` floats, and arbitrary
// values after the last one.
static __attribute__((always_inline)) void gradient(__private const float* x_rows, __global const float* dy, long dy_step,
                                                    __private float* to, long columns) {
  vec g[ROWS * BLOCKS];
  UNROLL
  for (int k = 0; k < ROWS * BLOCKS; ++k) g[k] = SPLAT(0.0f);
  UNROLL
  for (int b = 0; b < BATCH; ++b) {
    vec d[BLOCKS];
    UNROLL
    for (int k = 0; k < BLOCKS; ++k) d[k] = VLOAD(k, dy + b * dy_step);
    UNROLL
    for (int i = 0; i < ROWS; ++i) {
      UNROLL
      for (int k = 0; k < BLOCKS; ++k)
        g[i * BLOCKS + k] = fma(SPLAT(x_rows[b * VW + i]), d[k], g[i * BLOCKS + k]);
    }
  }
  UNROLL
  for (int i = 0; i < ROWS; ++i) {
    UNROLL
    for (int k = 0; k < BLOCKS; ++k) VSTORE(g[i * BLOCKS + k], 0, to + i * columns + k * VW);
  }
}

// Takes the step of `count` contiguous weights with their gradients.
static void take_steps(__private const float* gradients, int count, __global float* weight, __global float* state,
                       sgd_t sgd) {
  int v = 0;
  for (; v + VW <= count; v += VW) {
    const vec w = VLOAD(0, weight + v);
    take_step(VLOAD(0, gradients + v), w, w, VW, 1, weight + v, state + v, sgd);
  }
  if (v == count) return;
  const vec w = load_first(weight + v, count - v, 0);
  take_step(VLOAD(0, gradients + v), w, w, count - v, 0, weight + v, state + v, sgd);
}

// pad_rows provides dy in rows of whole vectors. One work-item processes `rows_each` rows of the weight.
__kernel ONE_ITEM void linear_update_short(ITEM const LinearUpdateArgs args, __global const float* x,
                                           __global const float* restrict dy, __global float* restrict weight,
                                           __global float* restrict state, __global float* dx) {
  const long begin = (long)get_global_id(0) * args.rows_each, end = min(begin + args.rows_each, args.rows);
  const sgd_t sgd = {args.lr, args.decay, args.momentum, args.first ? 0 : -1, args.first ? (int)0x80000000 : 0};
  const int dense = args.weight.step == args.columns && (!STATEFUL || args.state.step == args.columns);
  const long spilt = (VW - 1) / args.columns + 1;  // number of rows that a vector at the end of a row may touch
  for (long i0 = begin; i0 < end; i0 += VW) {
    const int live = (int)min((long)VW, end - i0);
    __global float* here = weight + args.weight.offset + i0 * args.weight.step;
    __global float* kept = state + args.state.offset + i0 * args.state.step;
    float x_rows[SUMS * VW];
    for (int b = 0; b < BATCH; ++b) {
      __global const float* from = x + args.x.offset + b * args.x.step + i0;
      VSTORE(load_first(from, live, 0), b, x_rows);
    }
#if WANTED
    vec sums[SUMS];
    meet_dy(here, args.weight.step, args.columns, live, i0 + VW + spilt <= end, dy, args.dy.step, sums);
    UNROLL
    for (int b = 0; b < BATCH; ++b) {
      const vec passed = args.after_relu ? (VLOAD(b, x_rows) > SPLAT(0.0f) ? sums[b] : SPLAT(0.0f)) : sums[b];
      store_first(passed, passed, live, 0, dx + args.dx.offset + b * args.dx.step + i0);
    }
#endif
    float gradients[(VW * BLOCKS + 1) * VW];
    for (int i = 0; i < VW; i += ROWS)
      gradient(x_rows + i, dy, args.dy.step, gradients + i * args.columns, args.columns);
    if (dense)
      take_steps(gradients, live * (int)args.columns, here, kept, sgd);
    else
      for (int i = 0; i < live; ++i)
        take_steps(gradients + i * args.columns, (int)args.columns, here + i * args.weight.step,
                   kept + i * args.state.step, sgd);
  }
}
