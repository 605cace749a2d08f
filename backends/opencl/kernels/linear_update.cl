// linear_update for CPUs, after gemm_skinny.cl and runs.cl; see sdk/ops/linear_update.hpp. The bits are those of
// skinny_block for dx, of one chain of fma() over the batch for the gradient, and of optimizer.cl for the step.

#define UPDATE_ROWS 4

// The step on `live` rows and columns [c, c + n), n <= 2 * VW: x_rows[b * UPDATE_ROWS + r] is x of row r.
void update_run(const float* x_rows, int batch, int live, __global const float* restrict dy, long dy_step,
                __global float* restrict weight, long weight_step, __global float* restrict state, long state_step,
                int stateful, int first, float lr, float decay, float momentum, int n) {
  const int n0 = min(n, VW), n1 = n - n0;
#define UPDATE_ZERO(r) vec g##r##0 = (vec)(0.0f), g##r##1 = (vec)(0.0f);
#define UPDATE_TERM(r)                                    \
  g##r##0 = fma((vec)(x_rows[b * UPDATE_ROWS + r]), d0, g##r##0); \
  g##r##1 = fma((vec)(x_rows[b * UPDATE_ROWS + r]), d1, g##r##1);
#define FOR_UPDATE_ROWS(X) X(0) X(1) X(2) X(3)
  FOR_UPDATE_ROWS(UPDATE_ZERO)
  for (int b = 0; b < batch; ++b) {
    const vec d0 = load_some(dy + b * dy_step, n0), d1 = n1 > 0 ? load_some(dy + b * dy_step + VW, n1) : (vec)(0.0f);
    FOR_UPDATE_ROWS(UPDATE_TERM)
  }
#define UPDATE_HALF(r, half)                                                                            \
  if (r < live && n##half > 0) {                                                                        \
    __global float* at = weight + r * weight_step + half * VW;                                          \
    const vec w = load_some(at, n##half);                                                               \
    vec s = fma((vec)(decay), w, g##r##half);                                                           \
    if (stateful) {                                                                                     \
      __global float* kept = state + r * state_step + half * VW;                                        \
      if (!first) s = fma((vec)(momentum), load_some(kept, n##half), s);                                \
      store_some(s, kept, n##half);                                                                     \
    }                                                                                                   \
    store_some(fma((vec)(-lr), s, w), at, n##half);                                                     \
  }
#define UPDATE_STORE(r) UPDATE_HALF(r, 0) UPDATE_HALF(r, 1)
  FOR_UPDATE_ROWS(UPDATE_STORE)
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
        for (long c = c0; c < c1; c += 2 * VW)
          update_run(x_rows[i / UPDATE_ROWS], batch, live - i, dy + c, dy_step, weight + (i0 + i) * weight_step + c,
                     weight_step, state + (i0 + i) * state_step + c, state_step, stateful, first, lr, decay, momentum,
                     (int)min((long)2 * VW, c1 - c));
    }
  }
}
