// Computes linear_update (sdk/ops/linear_update.hpp) on CPUs for longer rows of the weight than short_rows.cl. BATCH is
// the number of rows of x and dy. WANTED and STATEFUL state whether there is a dx and a state. The kernel processes
// ROWS rows of the weight at once: their sums for dx stay in registers, and each vector of dy serves all of them. VW is
// 16 on every device, regardless of its vector width, so that the bits are the same.
//
// The kernel makes one pass: it loads each vector of the weight once, multiplies it by dy for dx, updates it and stores
// it. It sums dx along a row in 16 chains of fma(), column c in chain c % 16, and then adds the chains in halves.
//
// SKIPS leaves out terms where x is 0. There, the step has nothing to add, and dx is either 0 (after a relu) or not
// requested. This applies to about half of all activations, and to most pixels of a digit. The kernel multiplies each
// row of the weight separately, only with the rows of dy that matter for it. Their number is rounded up to quarters of
// the batch, so that loops can be unrolled. (The host does not set SKIPS for rows so short that the test takes longer.)
#include "linear_update/linear_update_args.h"
#include "linear_update/step.cl"

#define SUMS (BATCH > 0 ? BATCH : 1)
#define QUARTERS(n) ((BATCH * (n) + 3) / 4)

// A list holds rows of the batch in some order, with four bits each. LISTED(t) is row t of the list, and a constant
// after inlining, unless rows are skipped.
#define EVERY_ROW 0xfedcba9876543210UL
#define LISTED(t) ((int)(list >> (4 * (t))) & 15)

// Processes `count` columns of n rows with `terms` rows of the batch. These numbers are constants after inlining,
// except for the last columns. Term t is row LISTED(t) of the batch; its factor for row i is x_rows[LISTED(t) * VW +
// i], and sums[i * SUMS + t] accumulates its dx. Prefetches the same columns of the next rows, and the next columns
// into the first-level cache. (Oclgrind does not support `restrict` here after inlining.)
static __attribute__((always_inline)) void columns_meet(const int n, const int terms, int count, int whole,
                                                 ulong list,
                                                 const float* x_rows, __global const float* dy, long dy_step,
                                                 __global float* weight, long weight_step, __global float* state,
                                                 long state_step, sgd_t sgd, __private vec* sums) {
  vec before[ROWS], w[ROWS], g[ROWS];
  UNROLL
  for (int i = 0; i < n; ++i) {
    FETCH_EARLY(weight + (i + n) * weight_step);
    FETCH(weight + i * weight_step + 4 * VW);
    if (STATEFUL) {
      FETCH_EARLY(state + (i + n) * state_step);
      FETCH(state + i * state_step + 4 * VW);
    }
    before[i] = load_first(weight + i * weight_step, count, whole);
    w[i] = or_zeros(before[i], count);
    g[i] = SPLAT(0.0f);
  }
  UNROLL
  for (int t = 0; t < terms; ++t) {
    const vec d = VLOAD(0, dy + LISTED(t) * dy_step);
    UNROLL
    for (int i = 0; i < n; ++i) {
      if (WANTED) sums[i * SUMS + t] = fma(d, w[i], sums[i * SUMS + t]);
      g[i] = fma(SPLAT(x_rows[LISTED(t) * VW + i]), d, g[i]);
    }
  }
  UNROLL
  for (int i = 0; i < n; ++i)
    take_step(g[i], w[i], before[i], count, whole, weight + i * weight_step, state + i * state_step, sgd);
}

// Processes all columns of n rows. The vector at chains[(b * VW + i) * VW] receives the chains of row b of the batch,
// if it is listed, for row i.
static __attribute__((always_inline)) void rows_meet(const int n, const int terms, ulong list, const float* x_rows,
                                              __global const float* dy, long dy_step, __global float* weight,
                                              long weight_step, __global float* state, long state_step, long columns,
                                              int whole, sgd_t sgd, __private float* chains) {
  vec sums[ROWS * SUMS];
  UNROLL
  for (int k = 0; WANTED && k < ROWS * SUMS; ++k) sums[k] = SPLAT(0.0f);
  long c = 0;
  for (; c + VW <= columns; c += VW)
    columns_meet(n, terms, VW, 1, list, x_rows, dy + c, dy_step, weight + c, weight_step, state + c, state_step, sgd,
                 sums);
  if (c < columns && whole)
    columns_meet(n, terms, (int)(columns - c), 1, list, x_rows, dy + c, dy_step, weight + c, weight_step, state + c,
                 state_step, sgd, sums);
  else if (c < columns)
    columns_meet(n, terms, (int)(columns - c), 0, list, x_rows, dy + c, dy_step, weight + c, weight_step, state + c,
                 state_step, sgd, sums);
  if (!WANTED) return;
  UNROLL
  for (int i = 0; i < n; ++i) {
    UNROLL
    for (int t = 0; t < terms; ++t) VSTORE(sums[i * SUMS + t], LISTED(t) * VW + i, chains);
  }
}

// Add the halves of each of two vectors, or their neighbouring lanes.
static __attribute__((always_inline)) vec add_halves(vec a, vec b) {
  return (vec)(a.s0, a.s1, a.s2, a.s3, a.s4, a.s5, a.s6, a.s7, b.s0, b.s1, b.s2, b.s3, b.s4, b.s5, b.s6, b.s7) +
         (vec)(a.s8, a.s9, a.sa, a.sb, a.sc, a.sd, a.se, a.sf, b.s8, b.s9, b.sa, b.sb, b.sc, b.sd, b.se, b.sf);
}
static __attribute__((always_inline)) vec add_neighbours(vec a, vec b) {
  return (vec)(a.s0, a.s2, b.s0, b.s2, a.s4, a.s6, b.s4, b.s6, a.s8, a.sa, b.s8, b.sa, a.sc, a.se, b.sc, b.se) +
         (vec)(a.s1, a.s3, b.s1, b.s3, a.s5, a.s7, b.s5, b.s7, a.s9, a.sb, b.s9, b.sb, a.sd, a.sf, b.sd, b.sf);
}

// Returns the sum of the chains of row i in lane i.
static __attribute__((always_inline)) vec sums_of_chains(__private const float* chains) {
  vec quarters[4];
  UNROLL
  for (int i = 0; i < 4; ++i) {
    const vec a = add_halves(VLOAD(i, chains), VLOAD(i + 4, chains));
    const vec b = add_halves(VLOAD(i + 8, chains), VLOAD(i + 12, chains));
    quarters[i] = even_quarters(a, b) + odd_quarters(a, b);
  }
  return add_neighbours(low_halves(quarters[0], quarters[1]) + high_halves(quarters[0], quarters[1]),
                        low_halves(quarters[2], quarters[3]) + high_halves(quarters[2], quarters[3]));
}

// pad_rows provides dy in rows of whole vectors. One work-item processes `rows_each` rows of the weight. It combines
// and stores the dx of VW rows at a time.
__kernel ONE_ITEM void linear_update(ITEM const LinearUpdateArgs args, __global const float* x,
                                     __global const float* restrict dy, __global float* restrict weight,
                                     __global float* restrict state, __global float* dx) {
  const long begin = (long)get_global_id(0) * args.rows_each, end = min(begin + args.rows_each, args.rows);
  const sgd_t sgd = {args.lr, args.decay, args.momentum, args.first ? 0 : -1, args.first ? (int)0x80000000 : 0};
  const int dense = args.weight.step == args.columns && (!STATEFUL || args.state.step == args.columns);
  x += args.x.offset;
  weight += args.weight.offset;
  state += args.state.offset;
  dx += args.dx.offset;
  for (long i0 = begin; i0 < end; i0 += VW) {
    const int live = (int)min((long)VW, end - i0);
    float x_rows[SUMS * VW], chains[WANTED ? SUMS * VW * VW : 1];
    for (int b = 0; b < BATCH; ++b) {
      __global const float* from = x + b * args.x.step + i0;
      FETCH(from + 2 * VW);
      if (live == VW)
        VSTORE(VLOAD(0, from), b, x_rows);
      else
        for (int i = 0; i < VW; ++i) x_rows[b * VW + i] = from[min(i, live - 1)];
    }
#define MEET(n, terms, list)                                                                                      \
  rows_meet(n, terms, list, x_rows + i, dy, args.dy.step, weight + (i0 + i) * args.weight.step, args.weight.step, \
            state + (i0 + i) * args.state.step, args.state.step, args.columns, dense && i0 + i + n < end, sgd,    \
            chains + i * VW)
#if SKIPS
    // Lists the rows of the batch that count, then the rows that do not. (The loop over i is vectorised.)
    ulong lists[VW];
    int counts[VW];
    for (int i = 0; i < VW; ++i) {
      ulong list = 0;
      int counting = 0;
      UNROLL
      for (int b = 0; b < BATCH; ++b) {
        const int counts_here = x_rows[b * VW + i] != 0.0f;
        const int position = counts_here ? counting : BATCH - 1 - b + counting;
        list |= (ulong)b << (4 * position);
        counting += counts_here;
      }
      lists[i] = list;
      counts[i] = counting;
    }
    for (int i = 0; i < live; ++i) {
      const ulong list = lists[i];
      for (int t = counts[i]; WANTED && t < BATCH; ++t) VSTORE(SPLAT(0.0f), LISTED(t) * VW + i, chains);
      if (counts[i] <= QUARTERS(1))
        MEET(1, QUARTERS(1), list);
      else if (counts[i] <= QUARTERS(2))
        MEET(1, QUARTERS(2), list);
      else if (counts[i] <= QUARTERS(3))
        MEET(1, QUARTERS(3), list);
      else
        MEET(1, BATCH, list);
    }
#else
    int i = 0;
    for (; i + ROWS <= live; i += ROWS) MEET(ROWS, BATCH, EVERY_ROW);
    for (; i < live; ++i) MEET(1, BATCH, EVERY_ROW);
#endif
    for (int b = 0; WANTED && b < BATCH; ++b) {
      const vec sums = sums_of_chains(chains + b * VW * VW);
      const vec through = VLOAD(b, x_rows);
      store_first(args.after_relu ? (through > SPLAT(0.0f) ? sums : SPLAT(0.0f)) : sums, sums, live, live == VW,
                  dx + b * args.dx.step + i0);
    }
  }
}
