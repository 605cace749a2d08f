// linear_update for CPUs, after gemm_skinny.cl and runs.cl; see sdk/ops/linear_update.hpp. The bits are those of
// skinny_block for dx, of one chain of fma() over the batch for the gradient, and of optimizer.cl for the step.

#define UPDATE_ROWS 4

// The gradient of UPDATE_ROWS rows and 2 * VW columns: x_rows[b * UPDATE_ROWS + r] is x of row r.
#define FOR_UPDATE_ROWS(X) X(0) X(1) X(2) X(3)
#define UPDATE_ZERO(r) vec g##r##0 = SPLAT(0.0f), g##r##1 = SPLAT(0.0f);
#define UPDATE_TERM(r)                              \
  {                                                 \
    const vec xr = SPLAT(x_rows[b * UPDATE_ROWS + r]); \
    g##r##0 = fma(xr, d0, g##r##0);                 \
    g##r##1 = fma(xr, d1, g##r##1);                 \
  }
// The step on one vector w of the weight, with its gradient g.
#define UPDATE_STEP(g, w, load, store)                          \
  vec s = fma(SPLAT(decay), w, g);                              \
  if (stateful) {                                               \
    if (!first) s = fma(SPLAT(momentum), load, s);              \
    store;                                                      \
  }

#define UPDATE_ARGUMENTS                                                                                             \
  const float *x_rows, int batch, __global const float *restrict dy, long dy_step, __global float *restrict weight,  \
      long weight_step, __global float *restrict state, long state_step, int stateful, int first, float lr,          \
      float decay, float momentum

void update_whole(UPDATE_ARGUMENTS) {
  FOR_UPDATE_ROWS(UPDATE_ZERO)
  for (int b = 0; b < batch; ++b, dy += dy_step) {
    const vec d0 = VLOAD(0, dy), d1 = VLOAD(1, dy);
    FOR_UPDATE_ROWS(UPDATE_TERM)
  }
#define UPDATE_HALF(r, half)                                                                            \
  {                                                                                                     \
    const vec w = VLOAD(half, weight + r * weight_step);                                                \
    UPDATE_STEP(g##r##half, w, VLOAD(half, state + r * state_step), VSTORE(s, half, state + r * state_step)) \
    VSTORE(fma(SPLAT(-lr), s, w), half, weight + r * weight_step);                                      \
  }
#define UPDATE_BOTH(r) UPDATE_HALF(r, 0) UPDATE_HALF(r, 1)
  FOR_UPDATE_ROWS(UPDATE_BOTH)
}

// The same for `live` rows and n <= 2 * VW columns.
void update_some(UPDATE_ARGUMENTS, int live, int n) {
  for (int r = 0; r < live; ++r)
    for (int c = 0; c < n; c += VW) {
      const int some = min(VW, n - c);
      vec g = SPLAT(0.0f);
      for (int b = 0; b < batch; ++b)
        g = fma(SPLAT(x_rows[b * UPDATE_ROWS + r]), load_some(dy + b * dy_step + c, some), g);
      __global float *at = weight + r * weight_step + c, *kept = state + r * state_step + c;
      const vec w = load_some(at, some);
      UPDATE_STEP(g, w, load_some(kept, some), store_some(s, kept, some))
      store_some(fma(SPLAT(-lr), s, w), at, some);
    }
}

// One work-item does `rows_each` rows of the weight: SR rows and KB columns at a time are read for dx, then, from the
// cache, for the step.
__kernel ONE_ITEM void linear_update(__global const float* restrict x, long x_offset, long x_step, int batch,
                                     __global const float* restrict dy, long dy_offset, long dy_step,
                                     __global const float* restrict panels, long rows, long columns,
                                     __global float* restrict weight, long weight_offset, long weight_step,
                                     __global float* restrict state, long state_offset, long state_step, int stateful,
                                     int first, __global float* restrict dx, long dx_offset, long dx_step, int wanted,
                                     float lr, float decay, float momentum, long rows_each) {
  const long begin = (long)get_global_id(0) * rows_each, end = min(begin + rows_each, rows);
  x += x_offset;
  dy += dy_offset;
  weight += weight_offset;
  state += state_offset;
  dx += dx_offset;
  for (long i0 = begin; i0 < end; i0 += SR) {
    const int live = (int)min((long)SR, end - i0);
    float x_rows[SR / UPDATE_ROWS][MOST_ROWS * UPDATE_ROWS];
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < SR; ++i)
        x_rows[i / UPDATE_ROWS][b * UPDATE_ROWS + i % UPDATE_ROWS] = x[b * x_step + i0 + min(i, live - 1)];
    for (long c0 = 0; c0 < columns; c0 += KB) {
      if (wanted)
        skinny_block(weight + i0 * weight_step, weight_step, live, panels, batch, c0, columns, dx + i0, 1, dx_step,
                     1.0f, 0.0f);
      const long c1 = min(c0 + KB, columns);
      for (int i = 0; i < live; i += UPDATE_ROWS)
        for (long c = c0; c < c1; c += 2 * VW) {
          __global float *at = weight + (i0 + i) * weight_step + c, *kept = state + (i0 + i) * state_step + c;
#define ARGUMENTS                                                                                                    \
  x_rows[i / UPDATE_ROWS], batch, dy + c, dy_step, at, weight_step, kept, state_step, stateful, first, lr, decay, \
      momentum
          if (live - i >= UPDATE_ROWS && c + 2 * VW <= c1)
            update_whole(ARGUMENTS);
          else
            update_some(ARGUMENTS, min(live - i, UPDATE_ROWS), (int)min((long)2 * VW, c1 - c));
        }
    }
  }
}
