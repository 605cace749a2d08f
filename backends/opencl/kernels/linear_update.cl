// linear_update for CPUs, after gemm_skinny.cl; see sdk/ops/linear_update.hpp. The bits are those of
// skinny_block for dx, of one chain of fma() over the batch for the gradient, and of optimizer.cl for the step.

#define UPDATE_ROWS 4

// dy with rows of `padded` floats, a multiple of 2 * VW, zero behind the end: one work-item copies one row.
__kernel ONE_ITEM void pad_rows(__global const float* restrict dy, long offset, long step, long columns,
                                __global float* restrict out, long padded) {
  const long b = get_global_id(0);
  for (long c = 0; c < padded; ++c) out[b * padded + c] = c < columns ? dy[offset + b * step + c] : 0.0f;
}

#define FOR_UPDATE_ROWS(X) X(0) X(1) X(2) X(3)
#define UPDATE_ZERO(r) vec g##r##0 = SPLAT(0.0f), g##r##1 = SPLAT(0.0f);
#define UPDATE_TERM(r)                                 \
  {                                                    \
    const vec xr = SPLAT(x_rows[b * SR + r]); \
    g##r##0 = fma(xr, d0, g##r##0);                    \
    g##r##1 = fma(xr, d1, g##r##1);                    \
  }
#define UPDATE_HALF(r, half)                                                                  \
  {                                                                                           \
    __global float *at = weight + r * weight_step, *kept = state + r * state_step;            \
    const vec w = VLOAD(half, at);                                                            \
    vec s = fma(SPLAT(decay), w, g##r##half);                                                 \
    if (stateful) {                                                                           \
      if (!first) s = fma(SPLAT(momentum), VLOAD(half, kept), s);                             \
      VSTORE(s, half, kept);                                                                  \
    }                                                                                         \
    VSTORE(fma(SPLAT(-lr), s, w), half, at);                                                  \
  }
#define UPDATE_BOTH(r) UPDATE_HALF(r, 0) UPDATE_HALF(r, 1)
#define UPDATE_SPILL(r)             \
  VSTORE(g##r##0, 2 * r, gradient); \
  VSTORE(g##r##1, 2 * r + 1, gradient);

float one_step(float g, float w, __global float* state, int stateful, int first, float lr, float decay, float momentum) {
  float s = fma(decay, w, g);
  if (stateful) {
    if (!first) s = fma(momentum, *state, s);
    *state = s;
  }
  return fma(-lr, s, w);
}

// Gradient and step of `live` <= UPDATE_ROWS rows and n <= 2 * VW columns: x_rows[b * SR + r] is x of row r,
// dy is padded.
void update(const float* x_rows, int batch, __global const float* restrict dy, long padded,
            __global float* restrict weight, long weight_step, __global float* restrict state, long state_step,
            int stateful, int first, float lr, float decay, float momentum, int live, int n,
            __global const float* next_weight, __global const float* next_state, int fetch_state) {
  UNROLL
  for (int v = 0; v < 2 * UPDATE_ROWS; ++v) {
    FETCH_EARLY(next_weight + v * VW);
  }
  if (fetch_state) {
    UNROLL
    for (int v = 0; v < 2 * UPDATE_ROWS; ++v) {
      FETCH_EARLY(next_state + v * VW);
    }
  }
  FOR_UPDATE_ROWS(UPDATE_ZERO)
  for (int b = 0; b < batch; ++b, dy += padded) {
    const vec d0 = VLOAD(0, dy), d1 = VLOAD(1, dy);
    FOR_UPDATE_ROWS(UPDATE_TERM)
  }
  if (live == UPDATE_ROWS && n == 2 * VW) {
    FOR_UPDATE_ROWS(UPDATE_BOTH)
    return;
  }
  float gradient[UPDATE_ROWS * 2 * VW];
  FOR_UPDATE_ROWS(UPDATE_SPILL)
  for (int r = 0; r < live; ++r) {
    __global float *at = weight + r * weight_step, *kept = state + r * state_step;
    for (int c = 0; c < n; ++c)
      at[c] = one_step(gradient[r * 2 * VW + c], at[c], kept + c, stateful, first, lr, decay, momentum);
  }
}

// Memory comes while sums are made, from one end to the other: while one block of rows is worked at, the rows behind it are
// fetched into the second cache, their state with the terms of dx, their weight with the step.
#define FETCH_LATER                       \
  if ((k & 15) < SR) {                    \
    FETCH_EARLY(later);                   \
    later += 16;                          \
  }
SKINNY_BLOCK(dx_block, FETCH_LATER)

// One work-item does `rows_each` rows of the weight: SR rows and KB columns at a time are read for dx, then, from the
// cache, for the step.
__kernel ONE_ITEM void linear_update(__global const float* x, long x_offset, long x_step, int batch,
                                     __global const float* restrict dy, long padded,
                                     __global const float* restrict panels, long rows, long columns,
                                     __global float* restrict weight, long weight_offset, long weight_step,
                                     __global float* restrict state, long state_offset, long state_step, int stateful,
                                     int first, __global float* dx, long dx_offset, long dx_step, int wanted,
                                     int after_relu, float lr, float decay, float momentum, long rows_each) {
  const long begin = (long)get_global_id(0) * rows_each, end = min(begin + rows_each, rows);
  x += x_offset;
  weight += weight_offset;
  state += state_offset;
  dx += dx_offset;
  for (long i0 = begin; i0 < end; i0 += SR) {
    const int live = (int)min((long)SR, end - i0);
    float x_rows[MOST_ROWS * SR];
    for (int b = 0; b < batch; ++b) {
      __global const float* from = x + b * x_step + i0;
      FETCH(from + 2 * SR);
      if (live == SR)
        for (int i = 0; i < SR; ++i) x_rows[b * SR + i] = from[i];
      else
        for (int i = 0; i < SR; ++i) x_rows[b * SR + i] = from[min(i, live - 1)];
    }
    long next = (i0 + SR) * weight_step;
    for (long c0 = 0; c0 < columns; c0 += KB) {
      if (wanted)
        dx_block(weight + i0 * weight_step, weight_step, live, panels, batch, c0, columns, dx + i0, 1, dx_step, 1.0f,
                 0.0f, c0 == 0, state + (i0 + SR) * state_step + c0 * SR);
      const long c1 = min(c0 + KB, columns);
      for (int i = 0; i < live; i += UPDATE_ROWS)
        for (long c = c0; c < c1; c += 2 * VW)
          update(x_rows + i, batch, dy + c, padded, weight + (i0 + i) * weight_step + c, weight_step,
                 state + (i0 + i) * state_step + c, state_step, stateful, first, lr, decay, momentum,
                 min(live - i, UPDATE_ROWS), (int)min((long)2 * VW, c1 - c), weight + next, state + next, !wanted),
              next += 2 * UPDATE_ROWS * VW;
    }
    if (!(wanted && after_relu)) continue;
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < live; ++i)
        if (!(x_rows[b * SR + i] > 0.0f)) dx[b * dx_step + i0 + i] = 0.0f;
  }
}

// The same for one output, so that weight and state are dense: the vectors run along the rows, of which a work-item does
// ONE_ROWS at a time, one row of the batch after the other in long runs. During each the next one is fetched.
#define ONE_ROWS 2048

__kernel ONE_ITEM void linear_update_one(__global const float* x, long x_offset, long x_step, int batch,
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
