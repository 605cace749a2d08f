// linear_update for CPUs and one output, after vector.cl. Weight and state are dense: the vectors run along the rows, of
// which a work-item does ONE_ROWS at a time, one row of the batch after the other in long runs. During each the next one
// is fetched.
#define ONE_ROWS 2048

static float one_step(float g, float w, __global float* state, int stateful, int first, float lr, float decay, float momentum) {
  float s = fma(decay, w, g);
  if (stateful) {
    if (!first) s = fma(momentum, *state, s);
    *state = s;
  }
  return fma(-lr, s, w);
}

__kernel ONE_ITEM void linear_update_one(ITEM __global const float* x, long x_offset, long x_step, int batch,
                                         __global const float* restrict dy, long dy_offset, long dy_step, long rows,
                                         __global float* restrict weight, long weight_offset,
                                         __global float* restrict state, long state_offset, int stateful, int first,
                                         __global float* dx, long dx_offset, long dx_step, int wanted,
                                         int after_relu, float lr, float decay, float momentum, long rows_each) {
  const long begin = (long)get_global_id(0) * rows_each, end = min(begin + rows_each, rows);
  x += x_offset;
  dy += dy_offset;
  weight += weight_offset;
  state += state_offset;
  dx += dx_offset;
  for (long i0 = begin; i0 < end; i0 += ONE_ROWS) {
    const int live = (int)min((long)ONE_ROWS, end - i0), whole = live / VW;
    float gradient[ONE_ROWS];
    for (int i = 0; i < live; ++i) gradient[i] = 0.0f;
    for (int b = 0; b < batch; ++b) {
      __global const float *from = x + b * x_step + i0, *w = weight + i0;
      __global float* to = dx + b * dx_step + i0;
      const float d = dy[b * dy_step];
      const int last = b + 1 == batch;
      __global const float* next_from = last ? x + i0 + ONE_ROWS : from + x_step;
      __global float* next_to = last ? dx + i0 + ONE_ROWS : to + dx_step;
      for (int v = 0; v < whole; ++v) {
        FETCH_EARLY(next_from + v * VW);
        const vec xv = VLOAD(v, from);
        VSTORE(fma(xv, SPLAT(d), VLOAD(v, gradient)), v, gradient);
        if (!wanted) continue;
        FETCH_TO_WRITE(next_to + v * VW);
        const vec through = fma(SPLAT(d), VLOAD(v, w), SPLAT(0.0f));
        VSTORE(after_relu ? (xv > SPLAT(0.0f) ? through : SPLAT(0.0f)) : through, v, to);
      }
      for (int i = whole * VW; i < live; ++i) {
        gradient[i] = fma(from[i], d, gradient[i]);
        if (wanted) to[i] = after_relu && !(from[i] > 0.0f) ? 0.0f : fma(d, w[i], 0.0f);
      }
    }
    for (int i = 0; i < live; ++i)
      weight[i0 + i] =
          one_step(gradient[i], weight[i0 + i], state + i0 + i, stateful, first, lr, decay, momentum);
  }
}
