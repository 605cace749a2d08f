// Computes linear_update on CPUs for one output. Weight and state are dense, so the vectors run along the rows. A
// work-item processes ONE_ROWS rows at a time. It reads each row of the batch in long runs and prefetches the next run.
#include "common/vector.cl"
#include "linear_update/linear_update_args.h"

#define ONE_ROWS 2048

static float one_step(float g, float w, __global float* state, int stateful, int first, float lr, float decay, float momentum) {
  float s = fma(decay, w, g);
  if (stateful) {
    if (!first) s = fma(momentum, *state, s);
    *state = s;
  }
  return fma(-lr, s, w);
}

__kernel ONE_ITEM void linear_update_one(ITEM const LinearUpdateArgs args, __global const float* x,
                                         __global const float* restrict dy, __global float* restrict weight,
                                         __global float* restrict state, __global float* dx) {
  const long begin = (long)get_global_id(0) * args.rows_each, end = min(begin + args.rows_each, args.rows);
  x += args.x.offset;
  dy += args.dy.offset;
  weight += args.weight.offset;
  state += args.state.offset;
  dx += args.dx.offset;
  for (long i0 = begin; i0 < end; i0 += ONE_ROWS) {
    const int live = (int)min((long)ONE_ROWS, end - i0), whole = live / VW;
    float gradient[ONE_ROWS];
    for (int i = 0; i < live; ++i) gradient[i] = 0.0f;
    for (int b = 0; b < args.batch; ++b) {
      __global const float *from = x + b * args.x.step + i0, *w = weight + i0;
      __global float* to = dx + b * args.dx.step + i0;
      const float d = dy[b * args.dy.step];
      const int last = b + 1 == args.batch;
      __global const float* next_from = last ? x + i0 + ONE_ROWS : from + args.x.step;
      __global float* next_to = last ? dx + i0 + ONE_ROWS : to + args.dx.step;
      for (int v = 0; v < whole; ++v) {
        FETCH_EARLY(next_from + v * VW);
        const vec xv = VLOAD(v, from);
        VSTORE(fma(xv, SPLAT(d), VLOAD(v, gradient)), v, gradient);
        if (!args.wanted) continue;
        FETCH_TO_WRITE(next_to + v * VW);
        const vec through = fma(SPLAT(d), VLOAD(v, w), SPLAT(0.0f));
        VSTORE(args.after_relu ? (xv > SPLAT(0.0f) ? through : SPLAT(0.0f)) : through, v, to);
      }
      for (int i = whole * VW; i < live; ++i) {
        gradient[i] = fma(from[i], d, gradient[i]);
        if (args.wanted) to[i] = args.after_relu && !(from[i] > 0.0f) ? 0.0f : fma(d, w[i], 0.0f);
      }
    }
    for (int i = 0; i < live; ++i)
      weight[i0 + i] = one_step(gradient[i], weight[i0 + i], state + i0 + i, args.stateful, args.first, args.lr,
                                args.decay, args.momentum);
  }
}
