// Takes the step of linear_update on CPUs (sdk/ops/linear_update.hpp). STATEFUL states whether there is a state. A step
// has the same bits as one chain of fma() over the batch followed by optimizer.cl.
#include "common/transpose.cl"

// At the first step, (state & remembers) | forgets is -0, which changes no sum. A branch here would separate the sums
// below, and the compiler would not keep all of them in registers.
typedef struct {
  float lr, decay, momentum;
  int remembers, forgets;
} sgd_t;

// The last vector of a row may be incomplete. With `whole`, rows of the same work-item follow, so the functions read a
// whole vector and write the values after the row back unchanged.
#define LANES ((ivec)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

// Loads the first `count` <= VW floats; the other lanes are arbitrary.
static __attribute__((always_inline)) vec load_first(__global const float* from, int count, int whole) {
  if (count == VW || whole) return VLOAD(0, from);
  float part[VW];
  __private float* to = part;
  VSTORE(SPLAT(0.0f), 0, part);
  if (count & 8) vstore8(vload8(0, from), 0, to), from += 8, to += 8;
  if (count & 4) vstore4(vload4(0, from), 0, to), from += 4, to += 4;
  if (count & 2) vstore2(vload2(0, from), 0, to), from += 2, to += 2;
  if (count & 1) *to = *from;
  return VLOAD(0, part);
}

static __attribute__((always_inline)) vec or_zeros(vec v, int count) {
  return count == VW ? v : select(SPLAT(0.0f), v, LANES < (ivec)count);
}

// Stores the first `count` floats of v. `before` is the vector that load_first() read from `to`.
static __attribute__((always_inline)) void store_first(vec v, vec before, int count, int whole, __global float* to) {
  if (count == VW || whole) {
    VSTORE(count == VW ? v : select(before, v, LANES < (ivec)count), 0, to);
    return;
  }
  float part[VW];
  __private const float* from = part;
  VSTORE(v, 0, part);
  if (count & 8) vstore8(vload8(0, from), 0, to), from += 8, to += 8;
  if (count & 4) vstore4(vload4(0, from), 0, to), from += 4, to += 4;
  if (count & 2) vstore2(vload2(0, from), 0, to), from += 2, to += 2;
  if (count & 1) *to = *from;
}

// Takes the step of `count` weights. w holds the weights, followed by zeros, and `before` holds the result of
// load_first(). g holds the gradients, followed by arbitrary values.
static __attribute__((always_inline)) void take_step(vec g, vec w, vec before, int count, int whole,
                                                     __global float* weight, __global float* state, sgd_t sgd) {
  vec s = fma(SPLAT(sgd.decay), w, g);
  if (STATEFUL) {
    const vec had = load_first(state, count, whole);
    s = fma(SPLAT(sgd.momentum), AS_VEC((AS_IVEC(had) & (ivec)sgd.remembers) | (ivec)sgd.forgets), s);
    store_first(s, had, count, whole, state);
  }
  store_first(fma(SPLAT(-sgd.lr), s, w), before, count, whole, weight);
}
