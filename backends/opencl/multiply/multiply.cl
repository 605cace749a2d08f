// Multiplies the pixels of images by factors, and computes the gradient of the factors (sdk/ops/multiply.hpp). Sums
// follow the order of the pixels.
#include "common/divide.cl"
#include "common/runs.cl"
#include "multiply/multiply_args.h"

// x and out may be the same memory.
__kernel void multiply(ITEM const MultiplyArgs args, __global const float* x, __global const float* factor,
                       __global float* out) {
  FOR_EACH_LINE {
    __global const float* from = x + args.x.offset + r * args.x.step;
    __global const float* by = factor + args.factor.offset + divide(r, args.pixels) * args.factor.step;
    __global float* to = out + args.out.offset + r * args.out.step;
    for (long c = c0; c < c1; c += VW) {
      const int n = RUN;
      store_some(load_some(from + c, n) * load_some(by + c, n), to + c, n);
    }
  }
}

__kernel void multiply_grad_factor(ITEM const FactorGradArgs args, __global const float* grad,
                                   __global const float* x, __global float* out) {
  FOR_EACH_RUN {
    const int n = RUN;
    __global const float* g = grad + args.grad.offset + r * args.pixels * args.grad.step + c;
    __global const float* v = x + args.x.offset + r * args.pixels * args.x.step + c;
    vec sum = SPLAT(0.0f);
    for (long p = 0; p < args.pixels; ++p)
      sum += load_some(g + p * args.grad.step, n) * load_some(v + p * args.x.step, n);
    store_some(sum, out + args.out.offset + r * args.out.step + c, n);
  }
}
