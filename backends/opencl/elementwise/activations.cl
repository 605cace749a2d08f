// Computes activations other than relu, and their derivatives (sdk/ops/bias_act.hpp).
#include "common/math.cl"
#include "common/runs.cl"
#include "elementwise/elementwise_args.h"
#include "formulas/activations.cl"

// The kernel does not read `bias` if there is no bias.
__kernel void activate(ITEM const ActivateArgs args, __global const float* x, __global const float* bias,
                       __global float* out) {
  FOR_EACH_RUN {
    const int n = RUN;
    vec v = load_some(x + args.x.offset + r * args.x.step + c, n);
    if (args.biased) v += load_some(bias + args.bias.offset + r * args.bias.step + c, n);
    store_some(activated(v, args.kind, args.slope), out + args.out.offset + r * args.out.step + c, n);
  }
}

__kernel void activation_grad(ITEM const ActivationGradArgs args, __global const float* grad, __global const float* y,
                              __global float* dx) {
  FOR_EACH_RUN {
    const int n = RUN;
    const vec g = load_some(grad + args.grad.offset + r * args.grad.step + c, n);
    const vec at = load_some(y + args.y.offset + r * args.y.step + c, n);
    store_some(g * slope_at(at, args.kind, args.slope), dx + args.dx.offset + r * args.dx.step + c, n);
  }
}
