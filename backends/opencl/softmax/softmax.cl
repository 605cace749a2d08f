// Computes the softmax of rows, and its gradient. One work-item processes rows_each rows. Sums follow the column order.
#include "common/math.cl"
#include "common/runs.cl"
#include "softmax/softmax_args.h"

#define FOR_EACH_OF_ROWS                                                                                       \
  const long r0 = (long)get_global_id(0) * args.rows_each, r1 = min(r0 + args.rows_each, args.rows); \
  for (long r = r0; r < r1; ++r)
#define FOR_EACH_PART for (long c = 0; c < args.columns; c += VW)
#define PART ((int)min((long)VW, args.columns - c))

// x and out may be the same memory.
__kernel void softmax(ITEM const SoftmaxArgs args, __global const float* x, __global float* out) {
  FOR_EACH_OF_ROWS {
    __global const float* from = x + args.x.offset + r * args.x.step;
    __global float* to = out + args.out.offset + r * args.out.step;
    float largest = from[0];
    bool good = true;
    for (long c = 0; c < args.columns; ++c) {
      const float v = from[c];
      good = good && v == v;
      largest = v > largest ? v : largest;
    }
    if (!good || fabs(largest) == INFINITY) largest = NAN;
    float terms[VW];
    float sum = 0.0f;
    FOR_EACH_PART {
      const int n = PART;
      const vec e = exp_f32(load_some(from + c, n) - SPLAT(largest));
      VSTORE(e, 0, terms);
      for (int i = 0; i < n; ++i) sum += terms[i];
      store_some(e, to + c, n);
    }
    VSTORE(reciprocal(SPLAT(sum)), 0, terms);
    const vec share = SPLAT(good ? terms[0] : NAN);
    FOR_EACH_PART store_some(load_some(to + c, PART) * share, to + c, PART);
  }
}

// grad and dx may be the same memory.
__kernel void softmax_grad(ITEM const SoftmaxArgs args, __global const float* grad, __global const float* y,
                           __global float* dx) {
  FOR_EACH_OF_ROWS {
    __global const float* g = grad + args.grad.offset + r * args.grad.step;
    __global const float* p = y + args.x.offset + r * args.x.step;
    __global float* to = dx + args.out.offset + r * args.out.step;
    float terms[VW];
    float sum = 0.0f;
    FOR_EACH_PART {
      const int n = PART;
      VSTORE(load_some(g + c, n) * load_some(p + c, n), 0, terms);
      for (int i = 0; i < n; ++i) sum += terms[i];
    }
    FOR_EACH_PART {
      const int n = PART;
      store_some(load_some(p + c, n) * (load_some(g + c, n) - SPLAT(sum)), to + c, n);
    }
  }
}
