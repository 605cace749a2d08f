// linear_update for CPUs, after transpose.cl; see sdk/ops/linear_update.hpp. BATCH: the rows of x and dy; WANTED, STATEFUL:
// whether there is a dx, a state; ROWS: rows of the weight at once, whose sums for dx stay in registers, while each vector
// of dy serves all of them. VW is 16 on every device, whatever its vectors, for the sake of the same bits.
//
// One pass: each vector of the weight is loaded once, meets dy for dx, and is stored with its step taken. A step has the
// bits of one chain of fma() over the batch and of optimizer.cl. dx is summed along a row in 16 chains of fma(), column c in
// chain c % 16, which are then added in halves.
#define SUMS (BATCH > 0 ? BATCH : 1)

// At the first step (kept & remembers) | forgets is -0, which changes no sum: a branch here would part the sums below, and
// the compiler would not keep all of them in registers.
typedef struct {
  float lr, decay, momentum;
  int remembers, forgets;
} sgd_t;

// The first `count` <= VW floats, and zeros.
__attribute__((always_inline)) vec load_first(__global const float* from, int count) {
  if (count == VW) return VLOAD(0, from);
  float part[VW];
  for (int c = 0; c < VW; ++c) part[c] = c < count ? from[c] : 0.0f;
  return VLOAD(0, part);
}

__attribute__((always_inline)) void store_first(vec v, int count, __global float* to) {
  if (count == VW) {
    VSTORE(v, 0, to);
    return;
  }
  float part[VW];
  VSTORE(v, 0, part);
  for (int c = 0; c < count; ++c) to[c] = part[c];
}

// `count` columns of n <= ROWS rows, both known where this is inlined but for the last columns: x_rows[b * VW + i] is x of
// row i, sums[i * SUMS + b] adds up its dx. Meanwhile the same columns of the rows behind are fetched, and from there into
// the first cache what comes next. (No restrict: Oclgrind does not know what becomes of it where a function is inlined.)
__attribute__((always_inline)) void columns_meet(const int n, int count, const float* x_rows,
                                                 __global const float* dy, long dy_step, __global float* weight,
                                                 long weight_step, __global float* state, long state_step, sgd_t sgd,
                                                 __private vec* sums) {
  vec w[ROWS], g[ROWS];
  UNROLL
  for (int i = 0; i < n; ++i) {
    FETCH_EARLY(weight + (i + n) * weight_step);
    FETCH(weight + i * weight_step + 4 * VW);
    if (STATEFUL) {
      FETCH_EARLY(state + (i + n) * state_step);
      FETCH(state + i * state_step + 4 * VW);
    }
    w[i] = load_first(weight + i * weight_step, count);
    g[i] = SPLAT(0.0f);
  }
  UNROLL
  for (int b = 0; b < BATCH; ++b) {
    const vec d = VLOAD(0, dy + b * dy_step);
    UNROLL
    for (int i = 0; i < n; ++i) {
      if (WANTED) sums[i * SUMS + b] = fma(d, w[i], sums[i * SUMS + b]);
      g[i] = fma(SPLAT(x_rows[b * VW + i]), d, g[i]);
    }
  }
  UNROLL
  for (int i = 0; i < n; ++i) {
    vec s = fma(SPLAT(sgd.decay), w[i], g[i]);
    if (STATEFUL) {
      __global float* kept = state + i * state_step;
      const vec before = AS_VEC((AS_IVEC(load_first(kept, count)) & (ivec)sgd.remembers) | (ivec)sgd.forgets);
      s = fma(SPLAT(sgd.momentum), before, s);
      store_first(s, count, kept);
    }
    store_first(fma(SPLAT(-sgd.lr), s, w[i]), count, weight + i * weight_step);
  }
}

// All columns of n rows; chains[(b * VW + i) * VW ...]: the chains of row b of the batch for row i.
__attribute__((always_inline)) void rows_meet(const int n, const float* x_rows, __global const float* dy, long dy_step,
                                              __global float* weight, long weight_step, __global float* state,
                                              long state_step, long columns, sgd_t sgd, __private float* chains) {
  vec sums[ROWS * SUMS];
  UNROLL
  for (int k = 0; k < ROWS * SUMS; ++k) sums[k] = SPLAT(0.0f);
  long c = 0;
  for (; c + VW <= columns; c += VW)
    columns_meet(n, VW, x_rows, dy + c, dy_step, weight + c, weight_step, state + c, state_step, sgd, sums);
  if (c < columns)
    columns_meet(n, (int)(columns - c), x_rows, dy + c, dy_step, weight + c, weight_step, state + c, state_step, sgd,
                 sums);
  if (!WANTED) return;
  UNROLL
  for (int i = 0; i < n; ++i) {
    UNROLL
    for (int b = 0; b < BATCH; ++b) VSTORE(sums[i * SUMS + b], b * VW + i, chains);
  }
}

// dy comes from pad_rows, with rows of whole vectors. One work-item does `rows_each` rows of the weight, VW of them before
// their dx is put together and stored.
__kernel ONE_ITEM void linear_update(__global const float* x, long x_offset, long x_step,
                                     __global const float* restrict dy, long dy_step, long rows, long columns,
                                     __global float* restrict weight, long weight_offset, long weight_step,
                                     __global float* restrict state, long state_offset, long state_step, int first,
                                     __global float* dx, long dx_offset, long dx_step, int after_relu, float lr,
                                     float decay, float momentum, long rows_each) {
  const long begin = (long)get_global_id(0) * rows_each, end = min(begin + rows_each, rows);
  const sgd_t sgd = {lr, decay, momentum, first ? 0 : -1, first ? (int)0x80000000 : 0};
  x += x_offset;
  weight += weight_offset;
  state += state_offset;
  dx += dx_offset;
  for (long i0 = begin; i0 < end; i0 += VW) {
    const int live = (int)min((long)VW, end - i0);
    float x_rows[SUMS * VW], chains[SUMS * VW * VW];
    for (int b = 0; b < BATCH; ++b) {
      __global const float* from = x + b * x_step + i0;
      FETCH(from + 2 * VW);
      for (int i = 0; i < VW; ++i) x_rows[b * VW + i] = from[min(i, live - 1)];
    }
    int i = 0;
    for (; i + ROWS <= live; i += ROWS)
      rows_meet(ROWS, x_rows + i, dy, dy_step, weight + (i0 + i) * weight_step, weight_step,
                state + (i0 + i) * state_step, state_step, columns, sgd, chains + i * VW);
    for (; i < live; ++i)
      rows_meet(1, x_rows + i, dy, dy_step, weight + (i0 + i) * weight_step, weight_step, state + (i0 + i) * state_step,
                state_step, columns, sgd, chains + i * VW);
    for (int b = 0; WANTED && b < BATCH; ++b) {
      vec r[VW];
      UNROLL
      for (int k = 0; k < VW; ++k) r[k] = k < live ? VLOAD(b * VW + k, chains) : SPLAT(0.0f);
      transpose(r);
      UNROLL
      for (int n = VW / 2; n > 0; n /= 2) {
        UNROLL
        for (int k = 0; k < n; ++k) r[k] += r[k + n];
      }
      const vec through = VLOAD(b, x_rows);
      store_first(after_relu ? (through > SPLAT(0.0f) ? r[0] : SPLAT(0.0f)) : r[0], live, dx + b * dx_step + i0);
    }
  }
}
