// Normalises by the mean square of neighbours in the row (sdk/ops/lrn.hpp). Sums follow the order of the columns.
#include "common/math.cl"
#include "common/runs.cl"
#include "formulas/lrn.cl"
#include "lrn/lrn_args.h"

// Loads VW elements of a row from column c on. Columns outside the row count as zeros.
static vec load_near(__global const float* row, long c, long columns) {
  if (c >= 0 && c + VW <= columns) return VLOAD(0, row + c);
  float some[VW];
  for (int i = 0; i < VW; ++i) some[i] = c + i >= 0 && c + i < columns ? row[c + i] : 0.0f;
  return VLOAD(0, some);
}

// Returns bias + share * sum of the squares of the neighbours, for VW columns from c on.
static vec norm_of(const LrnArgs args, __global const float* row, long c) {
  vec sum = SPLAT(0.0f);
  for (long k = -(long)args.before; k <= args.after; ++k) {
    const vec v = load_near(row, c + k, args.grid.columns);
    sum += v * v;
  }
  return lrn_norm(sum, args.bias, args.share);
}

__kernel void lrn(ITEM const LrnArgs args, __global const float* x, __global float* out) {
  FOR_EACH_RUN {
    __global const float* from = x + args.x.offset + r * args.x.step;
    const vec scale = power_of(norm_of(args, from, c), -args.beta);
    store_some(load_some(from + c, RUN) * scale, out + args.out.offset + r * args.out.step + c, RUN);
  }
}

__kernel void lrn_grad(ITEM const LrnArgs args, __global const float* grad, __global const float* x,
                       __global float* dx) {
  FOR_EACH_RUN {
    __global const float* g = grad + args.grad.offset + r * args.grad.step;
    __global const float* from = x + args.x.offset + r * args.x.step;
    vec sum = SPLAT(0.0f);
    for (long k = -(long)args.after; k <= args.before; ++k)
      sum += load_near(g, c + k, args.grid.columns) * load_near(from, c + k, args.grid.columns) *
             power_of(norm_of(args, from, c + k), -args.beta - 1.0f);
    const vec direct = load_some(g + c, RUN) * power_of(norm_of(args, from, c), -args.beta);
    const vec value = lrn_difference(direct, load_some(from + c, RUN), sum, args.share, args.beta);
    store_some(value, dx + args.out.offset + r * args.out.step + c, RUN);
  }
}
