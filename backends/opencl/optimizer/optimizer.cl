// Takes optimizer steps on flat parameters (sdk/ops/optimizer_step.hpp). quotients and
// square roots: common/exact.cl. The vectors are matrices of 1 x columns, so r is 0.
#include "common/exact.cl"
#include "common/runs.cl"
#include "optimizer/optimizer_args.h"

#define LOAD(name) load_some(name + args.name##_offset + c, n)
#define STORE(v, name) store_some(v, name + args.name##_offset + c, n)
// Computes grad * factor + decay * weight.
#define LOAD_GRADIENT fma(SPLAT(args.decay), w, LOAD(grad) * factor)

// Returns the factor that limits the norm, sqrt(norm2), to `clip`. A NaN gives NaN.
static float clipping(float norm2, float clip) {
  const float factor = quotient(clip, root(norm2) + 1e-6f);
  return factor > 1.0f ? 1.0f : factor;
}

__kernel void sgd(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,
                  __global float* weight) {
  const vec factor = SPLAT(args.clip > 0.0f ? clipping(norm2[args.norm2_offset], args.clip) : 1.0f);
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    STORE(fma(SPLAT(-args.lr), g, w), weight);
  }
}

__kernel void sgd_momentum(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,
                           __global float* weight, __global float* state) {
  const vec factor = SPLAT(args.clip > 0.0f ? clipping(norm2[args.norm2_offset], args.clip) : 1.0f);
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    const vec s = args.first ? g : fma(SPLAT(args.a), LOAD(state), SPLAT(args.one_minus_b) * g);
    STORE(s, state);
    STORE(fma(SPLAT(-args.lr), args.nesterov ? fma(SPLAT(args.a), s, g) : s, w), weight);
  }
}

// This kernel also computes AdamW. `shrink` is 1 for Adam.
__kernel void adam(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,
                   __global float* weight, __global float* state, __global float* state2) {
  const vec factor = SPLAT(args.clip > 0.0f ? clipping(norm2[args.norm2_offset], args.clip) : 1.0f);
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    const vec s = fma(SPLAT(args.a), LOAD(state), SPLAT(args.one_minus_a) * g);
    const vec u = fma(SPLAT(args.one_minus_b) * g, g, SPLAT(args.b) * LOAD(state2));
    STORE(s, state);
    STORE(u, state2);
    STORE(fma(SPLAT(-args.step_size), quotient(s, fma(root(u), SPLAT(args.to_root), SPLAT(args.eps))),
              w * SPLAT(args.shrink)),
          weight);
  }
}

// Computes adam with the largest second moment so far. The comparison lets a NaN of the moment pass.
__kernel void amsgrad(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,
                      __global float* weight, __global float* state, __global float* state2, __global float* state3) {
  const vec factor = SPLAT(args.clip > 0.0f ? clipping(norm2[args.norm2_offset], args.clip) : 1.0f);
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT, before = LOAD(state3);
    const vec s = fma(SPLAT(args.a), LOAD(state), SPLAT(args.one_minus_a) * g);
    const vec u = fma(SPLAT(args.one_minus_b) * g, g, SPLAT(args.b) * LOAD(state2));
    const vec v = select(u, before, (ivec)(u <= before));
    STORE(s, state);
    STORE(u, state2);
    STORE(v, state3);
    STORE(fma(SPLAT(-args.step_size), quotient(s, fma(root(v), SPLAT(args.to_root), SPLAT(args.eps))),
              w * SPLAT(args.shrink)),
          weight);
  }
}

__kernel void rmsprop(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,
                      __global float* weight, __global float* state) {
  const vec factor = SPLAT(args.clip > 0.0f ? clipping(norm2[args.norm2_offset], args.clip) : 1.0f);
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    const vec s = fma(SPLAT(args.one_minus_a) * g, g, SPLAT(args.a) * LOAD(state));
    STORE(s, state);
    STORE(fma(SPLAT(-args.lr), quotient(g, root(s) + SPLAT(args.eps)), w), weight);
  }
}

__kernel void rmsprop_momentum(ITEM const OptimizerArgs args, __global const float* grad,
                               __global const float* norm2, __global float* weight, __global float* state,
                               __global float* state2) {
  const vec factor = SPLAT(args.clip > 0.0f ? clipping(norm2[args.norm2_offset], args.clip) : 1.0f);
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    const vec s = fma(SPLAT(args.one_minus_a) * g, g, SPLAT(args.a) * LOAD(state));
    const vec u = fma(SPLAT(args.b), LOAD(state2), quotient(g, root(s) + SPLAT(args.eps)));
    STORE(s, state);
    STORE(u, state2);
    STORE(fma(SPLAT(-args.lr), u, w), weight);
  }
}

__kernel void adadelta(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,
                       __global float* weight, __global float* state, __global float* state2) {
  const vec factor = SPLAT(args.clip > 0.0f ? clipping(norm2[args.norm2_offset], args.clip) : 1.0f);
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT, before = LOAD(state2);
    const vec s = fma(SPLAT(args.one_minus_a) * g, g, SPLAT(args.a) * LOAD(state));
    const vec d = quotient(root(before + SPLAT(args.eps)), root(s + SPLAT(args.eps))) * g;
    STORE(s, state);
    STORE(fma(SPLAT(args.one_minus_a) * d, d, SPLAT(args.a) * before), state2);
    STORE(fma(SPLAT(-args.lr), d, w), weight);
  }
}
