// linear_update for CPUs where a row of the weight has at most 3 vectors, BLOCKS of them, and the next begins where it
// ends; after transpose.cl and linear_step.cl. BATCH, WANTED, STATEFUL: as in linear_update.cl; ROWS of the weight at
// once meet the batch, a divisor of VW.
//
// A block of VW rows of the weight at a time. Turned round, with a lane for each row, their dx needs nothing added
// across lanes: 16 chains of fma(), column c in chain c % 16, added in halves. What the batch adds up to for them is
// put one row behind the other, as the weight is, so that the step meets whole vectors only, wherever rows end.

#if WANTED
// Some rows of the batch side by side, for which a column of the weight is loaded once.
#if BATCH % 5 == 0
#define ABREAST 5
#else
#define ABREAST 4
#endif
typedef struct {
  vec of[ABREAST];
} abreast_t;

static __attribute__((always_inline)) abreast_t plus(abreast_t a, abreast_t b) {
  UNROLL
  for (int t = 0; t < ABREAST; ++t) a.of[t] += b.of[t];
  return a;
}

// Chain c of rows b and on of the batch; where there are less, of the last one again. `columns`: of the weight, a lane
// for each of its rows.
static __attribute__((always_inline)) abreast_t chain(int c, __private const vec* columns, __global const float* dy,
                                                      long dy_step, int b) {
  abreast_t sum;
  UNROLL
  for (int t = 0; t < ABREAST; ++t) {
    __global const float* row = dy + min(b + t, BATCH - 1) * dy_step;
    sum.of[t] = SPLAT(0.0f);
    UNROLL
    for (int k = 0; k < BLOCKS; ++k) sum.of[t] = fma(SPLAT(row[k * VW + c]), columns[k * VW + c], sum.of[t]);
  }
  return sum;
}
#define CHAIN(c) chain(c, columns, dy, dy_step, b)
#define CHAINS_2(c) plus(CHAIN(c), CHAIN((c) + 8))
#define CHAINS_4(c) plus(CHAINS_2(c), CHAINS_2((c) + 4))
#define CHAINS_8(c) plus(CHAINS_4(c), CHAINS_4((c) + 2))
#define CHAINS_16 plus(CHAINS_8(0), CHAINS_8(1))
#endif

// Adds up what ROWS rows of the weight get from the batch: `to` gets rows of `columns` floats one behind the other, and
// anything behind the last.
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

// VW rows of the weight, of which there are `live`, turned round: `turned` gets a vector for each column, with zeros
// where there is no such row or column. Where `whole`, vectors may be read that end behind the last row.
static __attribute__((always_inline)) void turn(__global const float* weight, long columns, int live, int whole,
                                                __private vec* turned) {
  for (int k = 0; k < BLOCKS; ++k) {
    const int count = (int)min((long)VW, columns - k * VW);
    vec block[VW];
    if (whole) {
      UNROLL
      for (int i = 0; i < VW; ++i) block[i] = or_zeros(VLOAD(k, weight + i * columns), count);
    } else {
      for (int i = 0; i < VW; ++i) {
        block[i] = SPLAT(0.0f);
        if (i < live) block[i] = or_zeros(load_first(weight + i * columns + k * VW, count, 0), count);
      }
    }
    transpose(block);
    UNROLL
    for (int c = 0; c < VW; ++c) turned[k * VW + c] = block[c];
  }
}

// dy comes from pad_rows, with rows of whole vectors. One work-item does `rows_each` rows of the weight.
__kernel ONE_ITEM void linear_update_short(ITEM __global const float* x, long x_offset, long x_step,
                                           __global const float* restrict dy, long dy_step, long rows, long row_size,
                                           __global float* restrict weight, long weight_offset,
                                           __global float* restrict state, long state_offset, int first,
                                           __global float* dx, long dx_offset, long dx_step, int after_relu, float lr,
                                           float decay, float momentum, long rows_each) {
  const long begin = (long)get_global_id(0) * rows_each, end = min(begin + rows_each, rows);
  const sgd_t sgd = {lr, decay, momentum, first ? 0 : -1, first ? (int)0x80000000 : 0};
  const long spilt = (VW - 1) / row_size + 1;  // rows that a vector at the end of a row may touch
  for (long i0 = begin; i0 < end; i0 += VW) {
    const int live = (int)min((long)VW, end - i0);
    __global float* here = weight + weight_offset + i0 * row_size;
    __global float* kept = state + state_offset + i0 * row_size;
    float x_rows[(BATCH > 0 ? BATCH : 1) * VW];
    for (int b = 0; b < BATCH; ++b) {
      __global const float* from = x + x_offset + b * x_step + i0;
      VSTORE(load_first(from, live, 0), b, x_rows);
    }
#if WANTED
    vec columns[BLOCKS * VW];
    turn(here, row_size, live, i0 + VW + spilt <= end, columns);
    for (int b = 0; b < BATCH; b += ABREAST) {
      const abreast_t sums = CHAINS_16;
      for (int t = 0; t < ABREAST && b + t < BATCH; ++t) {
        const vec through = VLOAD(b + t, x_rows);
        const vec passed = after_relu ? (through > SPLAT(0.0f) ? sums.of[t] : SPLAT(0.0f)) : sums.of[t];
        store_first(passed, passed, live, 0, dx + dx_offset + (b + t) * dx_step + i0);
      }
    }
#endif
    float gradients[(VW * BLOCKS + 1) * VW];
    for (int i = 0; i < VW; i += ROWS) gradient(x_rows + i, dy, dy_step, gradients + i * row_size, row_size);
    const int weights = live * (int)row_size;
    for (int v = 0; v < weights; v += VW) {
      const int count = min(VW, weights - v);
      const vec w = load_first(here + v, count, 0);
      take_step(VLOAD(0, gradients + v), w, w, count, 0, here + v, kept + v, sgd);
    }
  }
}
