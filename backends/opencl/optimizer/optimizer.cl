// Takes optimizer steps on flat parameters (sdk/ops/optimizer_step.hpp). The vectors are matrices of 1 x columns, so r
// is 0.
#include "common/math.cl"
#include "common/runs.cl"
#include "optimizer/optimizer_args.h"

#define STEP_NUMBERS OptimizerArgs
#include "formulas/optimizer.cl"

#define LOAD(name) load_some(name + args.name##_offset + c, n)
#define STORE(v, name) store_some(v, name + args.name##_offset + c, n)
#define FACTOR SPLAT(args.clip > 0.0f ? clipping(norm2[args.norm2_offset], args.clip) : 1.0f)
#define NO_STATE SPLAT(0.0f)
#define GRADIENT gradient_of(args, LOAD(grad), factor, at.weight)

__kernel void sgd(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,
                  __global float* weight) {
  const vec factor = FACTOR;
  FOR_EACH_RUN {
    const int n = RUN;
    const Step at = {LOAD(weight), NO_STATE, NO_STATE, NO_STATE};
    const Step to = sgd_step(args, GRADIENT, at);
    STORE(to.weight, weight);
  }
}

// Defines a kernel with one state.
#define ONE_STATE(name, step)                                                                                  \
  __kernel void name(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,   \
                     __global float* weight, __global float* state) {                                          \
    const vec factor = FACTOR;                                                                                 \
    FOR_EACH_RUN {                                                                                             \
      const int n = RUN;                                                                                       \
      const Step at = {LOAD(weight), LOAD(state), NO_STATE, NO_STATE};                                         \
      const Step to = step(args, GRADIENT, at);                                                                \
      STORE(to.state, state);                                                                                  \
      STORE(to.weight, weight);                                                                                \
    }                                                                                                          \
  }
ONE_STATE(sgd_momentum, momentum_step)
ONE_STATE(rmsprop, rmsprop_step)

// Defines a kernel with two states.
#define TWO_STATES(name, step)                                                                                 \
  __kernel void name(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,   \
                     __global float* weight, __global float* state, __global float* state2) {                  \
    const vec factor = FACTOR;                                                                                 \
    FOR_EACH_RUN {                                                                                             \
      const int n = RUN;                                                                                       \
      const Step at = {LOAD(weight), LOAD(state), LOAD(state2), NO_STATE};                                     \
      const Step to = step(args, GRADIENT, at);                                                                \
      STORE(to.state, state);                                                                                  \
      STORE(to.state2, state2);                                                                                \
      STORE(to.weight, weight);                                                                                \
    }                                                                                                          \
  }
TWO_STATES(adam, adam_step)
TWO_STATES(rmsprop_momentum, rmsprop_momentum_step)
TWO_STATES(adadelta, adadelta_step)

__kernel void amsgrad(ITEM const OptimizerArgs args, __global const float* grad, __global const float* norm2,
                      __global float* weight, __global float* state, __global float* state2, __global float* state3) {
  const vec factor = FACTOR;
  FOR_EACH_RUN {
    const int n = RUN;
    const Step at = {LOAD(weight), LOAD(state), LOAD(state2), LOAD(state3)};
    const Step to = amsgrad_step(args, GRADIENT, at);
    STORE(to.state, state);
    STORE(to.state2, state2);
    STORE(to.state3, state3);
    STORE(to.weight, weight);
  }
}
