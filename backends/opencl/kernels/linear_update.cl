// linear_update for CPUs, after gemm_skinny.cl; see sdk/ops/linear_update.hpp. The bits are those of a product in blocks
// of KB terms for dx, of one chain of fma() over the batch for the gradient, and of optimizer.cl for the step.

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
    const vec xr = SPLAT(x_rows[b * VW + r]); \
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

// What is fetched while sums are made: runs, `step` floats from one to the next, in whole multiples of 4 vectors.
typedef struct {
  __global const float* at;
  long step;
  int run, left;  // floats
} ahead_t;

ahead_t runs_at(__global const float* at, long step, int floats) {
  const int run = (floats + 4 * VW - 1) / (4 * VW) * (4 * VW);
  ahead_t ahead = {at, step, run, run};
  return ahead;
}

// The next vector; v: how many were fetched before, or their number modulo 4, which is known where this is inlined.
__attribute__((always_inline)) void fetch_ahead(__private ahead_t* ahead, const int v) {
  FETCH_EARLY(ahead->at + v % 4 * VW);
  if (v % 4 < 3) return;
  ahead->at += 4 * VW;
  ahead->left -= 4 * VW;
  if (ahead->left > 0) return;
  ahead->at += ahead->step - ahead->run;
  ahead->left = ahead->run;
}

// Gradient and step of `live` <= UPDATE_ROWS rows and n <= 2 * VW columns: x_rows[b * VW + r] is x of row r,
// dy is padded.
void update(const float* x_rows, int batch, __global const float* restrict dy, long padded,
            __global float* restrict weight, long weight_step, __global float* restrict state, long state_step,
            int stateful, int first, float lr, float decay, float momentum, int live, int n,
            __private ahead_t* next_weight, __private ahead_t* next_state, int fetch_state) {
  UNROLL
  for (int v = 0; v < 2 * UPDATE_ROWS; ++v) fetch_ahead(next_weight, v);
  if (fetch_state) {
    UNROLL
    for (int v = 0; v < 2 * UPDATE_ROWS; ++v) fetch_ahead(next_state, v);
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

// VW terms of dx for n rows of the batch, which is known where this is inlined: w[k] is column k of VW rows of the weight,
// p[k * SHORT + b] what row b of the batch meets it with. With each column a vector is fetched.
// (No restrict: Oclgrind does not know what becomes of it where a function is inlined.)
__attribute__((always_inline)) void square_meets(__private const vec* w, __global const float* p,
                                                 __private vec* sums, __private ahead_t* later, const int n) {
  vec s[MOST_ROWS];
  UNROLL
  for (int b = 0; b < n; ++b) s[b] = sums[b];
  UNROLL
  for (int k = 0; k < VW; ++k) {
    fetch_ahead(later, k);
    UNROLL
    for (int b = 0; b < n; ++b) s[b] = fma(SPLAT(p[k * SHORT + b]), w[k], s[b]);
  }
  UNROLL
  for (int b = 0; b < n; ++b) sums[b] = s[b];
}

__attribute__((always_inline)) void square_meets_all(__private const vec* w, __global const float* p, __private vec* sums,
                      __private ahead_t* later, int batch) {
  switch (batch) {
#define ROWS_OF_BATCH(n) \
  case n: square_meets(w, p, sums, later, n); break;
    ROWS_OF_BATCH(1) ROWS_OF_BATCH(2) ROWS_OF_BATCH(3) ROWS_OF_BATCH(4)
    ROWS_OF_BATCH(5) ROWS_OF_BATCH(6) ROWS_OF_BATCH(7) ROWS_OF_BATCH(8)
    ROWS_OF_BATCH(9) ROWS_OF_BATCH(10) ROWS_OF_BATCH(11) ROWS_OF_BATCH(12)
    ROWS_OF_BATCH(13) ROWS_OF_BATCH(14) ROWS_OF_BATCH(15) ROWS_OF_BATCH(16)
  }
}

// Terms of dx for VW rows of the weight, the first n <= 2 * VW columns of those at `weight`: the vectors run along the
// rows, over transposed squares. With each square as many floats are fetched.
void strip_meets(__global const float* restrict weight, __private const long* row, int n,
                 __global const float* restrict panel, int batch, __private vec* sums,
                 __private ahead_t* next_state) {
  ahead_t later = *next_state;
  int c = 0;
  for (; c + VW <= n; c += VW) {
    vec w[VW];
    UNROLL
    for (int i = 0; i < VW; ++i) w[i] = VLOAD(0, weight + row[i] + c);
    transpose(w);
    square_meets_all(w, panel + c * SHORT, sums, &later, batch);
  }
  *next_state = later;
  for (; c < n; ++c) {
    float column[VW];
    for (int i = 0; i < VW; ++i) column[i] = weight[row[i] + c];
    const vec w = VLOAD(0, column);
    for (int b = 0; b < batch; ++b) sums[b] = fma(SPLAT(panel[c * SHORT + b]), w, sums[b]);
  }
}

// One work-item does `rows_each` rows of the weight, VW rows at a time and of these two vectors of columns, first for dx,
// then, from the near cache, for the step. Sums and memory so keep pace with each other: all the while the next piece of
// at most PIECE columns of these rows, or the first of the rows behind them, is fetched row by row, its state with the
// terms of dx, its weight with the step. (More does not fit into the second cache, shorter runs are slow.)
#define PIECE 1024

__kernel ONE_ITEM void linear_update(__global const float* x, long x_offset, long x_step, int batch,
                                     __global const float* restrict dy, long padded,
                                     __global const float* restrict panels, long rows, long columns,
                                     __global float* restrict weight, long weight_offset, long weight_step,
                                     __global float* restrict state, long state_offset, long state_step, int stateful,
                                     int first, __global float* dx, long dx_offset, long dx_step, int wanted,
                                     int after_relu, float lr, float decay, float momentum, long rows_each) {
  const long begin = (long)get_global_id(0) * rows_each, end = min(begin + rows_each, rows);
  const long pieces = (columns + PIECE - 1) / PIECE;
  const long piece = ((columns + pieces - 1) / pieces + 4 * VW - 1) / (4 * VW) * (4 * VW);
  x += x_offset;
  weight += weight_offset;
  state += state_offset;
  dx += dx_offset;
  for (long i0 = begin; i0 < end; i0 += VW) {
    const int live = (int)min((long)VW, end - i0);
    float x_rows[MOST_ROWS * VW];
    for (int b = 0; b < batch; ++b) {
      __global const float* from = x + b * x_step + i0;
      FETCH(from + 2 * VW);
      if (live == VW)
        for (int i = 0; i < VW; ++i) x_rows[b * VW + i] = from[i];
      else
        for (int i = 0; i < VW; ++i) x_rows[b * VW + i] = from[min(i, live - 1)];
    }
    long row[VW];
    for (int i = 0; i < VW; ++i) row[i] = min(i, live - 1) * weight_step;
    vec sums[MOST_ROWS], dx_rows[MOST_ROWS];
    __global float *w = weight + i0 * weight_step, *s = state + i0 * state_step;
    ahead_t next_w, next_s;
    long end_of_piece = 0;
    for (long c0 = 0; c0 < columns; c0 += KB) {
      const long c1 = min(c0 + KB, columns);
      for (int b = 0; b < batch; ++b) sums[b] = SPLAT(0.0f);
      for (long c = c0; c < c1; c += 2 * VW) {
        if (c == end_of_piece) {
          end_of_piece += piece;
          const int same = end_of_piece < columns;
          const long down = same ? 0 : VW, right = same ? end_of_piece : 0;
          const int run = (int)min(piece, columns - right);
          next_w = runs_at(w + down * weight_step + right, weight_step, run);
          next_s = runs_at(s + down * state_step + right, state_step, run);
        }
        const int n = (int)min((long)2 * VW, c1 - c);
        if (wanted) strip_meets(w + c, row, n, panels + c * SHORT, batch, sums, &next_s);
        for (int i = 0; i < live; i += UPDATE_ROWS)
          update(x_rows + i, batch, dy + c, padded, w + i * weight_step + c, weight_step, s + i * state_step + c,
                 state_step, stateful, first, lr, decay, momentum, min(live - i, UPDATE_ROWS), n, &next_w,
                 &next_s, !wanted);
      }
      for (int b = 0; b < batch; ++b) dx_rows[b] = c0 == 0 ? sums[b] : sums[b] + dx_rows[b];
    }
    for (int b = 0; wanted && b < batch; ++b) {
      float sum[VW];
      VSTORE(dx_rows[b], 0, sum);
      for (int i = 0; i < live; ++i)
        dx[b * dx_step + i0 + i] = after_relu && !(x_rows[b * VW + i] > 0.0f) ? 0.0f : sum[i];
    }
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
