// Steps of optimizers on flat parameters, after runs.cl; see sdk/ops/optimizer_step.hpp. What depends on the settings
// alone is computed by the host: 1 - a and the like come as floats of their own. sqrt and division are the device's:
// correctly rounded where it can, within 3 ulp elsewhere.
//
// The vectors lie as rows of 1 x columns: r is 0.

#define FLAT long rows, long columns, long rows_each, long columns_each
#define VECTOR(name) name, long name##_offset
#define LOAD(name) load_some(name + name##_offset + c, n)
#define STORE(v, name) store_some(v, name + name##_offset + c, n)
// grad + decay * weight
#define LOAD_GRADIENT fma(SPLAT(decay), w, LOAD(grad))

__kernel void sgd(ITEM FLAT, __global const float* VECTOR(grad), __global float* VECTOR(weight), float lr, float decay) {
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    STORE(fma(SPLAT(-lr), g, w), weight);
  }
}

__kernel void sgd_momentum(ITEM FLAT, __global const float* VECTOR(grad), __global float* VECTOR(weight),
                           __global float* VECTOR(state), float lr, float decay, float momentum, int first) {
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    const vec s = first ? g : fma(SPLAT(momentum), LOAD(state), g);
    STORE(s, state);
    STORE(fma(SPLAT(-lr), s, w), weight);
  }
}

// step_size = lr / (1 - a^t), to_root = 1 / sqrt(1 - b^t).
__kernel void adam(ITEM FLAT, __global const float* VECTOR(grad), __global float* VECTOR(weight),
                   __global float* VECTOR(state), __global float* VECTOR(state2), float decay, float a,
                   float one_minus_a, float b, float one_minus_b, float eps, float step_size, float to_root) {
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    const vec s = fma(SPLAT(a), LOAD(state), SPLAT(one_minus_a) * g);
    const vec u = fma(SPLAT(one_minus_b) * g, g, SPLAT(b) * LOAD(state2));
    STORE(s, state);
    STORE(u, state2);
    STORE(fma(SPLAT(-step_size), s / fma(sqrt(u), SPLAT(to_root), SPLAT(eps)), w), weight);
  }
}

__kernel void rmsprop(ITEM FLAT, __global const float* VECTOR(grad), __global float* VECTOR(weight),
                      __global float* VECTOR(state), float lr, float decay, float a, float one_minus_a, float eps) {
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    const vec s = fma(SPLAT(one_minus_a) * g, g, SPLAT(a) * LOAD(state));
    STORE(s, state);
    STORE(fma(SPLAT(-lr), g / (sqrt(s) + SPLAT(eps)), w), weight);
  }
}

__kernel void rmsprop_momentum(ITEM FLAT, __global const float* VECTOR(grad), __global float* VECTOR(weight),
                               __global float* VECTOR(state), __global float* VECTOR(state2), float lr, float decay,
                               float a, float one_minus_a, float eps, float momentum) {
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT;
    const vec s = fma(SPLAT(one_minus_a) * g, g, SPLAT(a) * LOAD(state));
    const vec u = fma(SPLAT(momentum), LOAD(state2), g / (sqrt(s) + SPLAT(eps)));
    STORE(s, state);
    STORE(u, state2);
    STORE(fma(SPLAT(-lr), u, w), weight);
  }
}

__kernel void adadelta(ITEM FLAT, __global const float* VECTOR(grad), __global float* VECTOR(weight),
                       __global float* VECTOR(state), __global float* VECTOR(state2), float lr, float decay, float a,
                       float one_minus_a, float eps) {
  FOR_EACH_RUN {
    const int n = RUN;
    const vec w = LOAD(weight), g = LOAD_GRADIENT, before = LOAD(state2);
    const vec s = fma(SPLAT(one_minus_a) * g, g, SPLAT(a) * LOAD(state));
    const vec d = sqrt(before + SPLAT(eps)) / sqrt(s + SPLAT(eps)) * g;
    STORE(s, state);
    STORE(fma(SPLAT(one_minus_a) * d, d, SPLAT(a) * before), state2);
    STORE(fma(SPLAT(-lr), d, w), weight);
  }
}
