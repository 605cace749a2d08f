// Computes activations other than relu, and their derivatives (sdk/ops/bias_act.hpp).
#include "common/math.cl"
#include "common/runs.cl"
#include "elementwise/elementwise_args.h"

// These are values of ops::Activation.
#define LEAKY_RELU 2
#define GELU 3
#define GELU_TANH 4
#define SILU 5
#define TANH 6
#define SIGMOID 7
#define HARD_SIGMOID 8

#define GELU_1 SPLAT(1.59576912f)    // sqrt(8 / pi)
#define GELU_3 SPLAT(0.0713548163f)  // 0.044715 sqrt(8 / pi)
#define ROOT_HALF SPLAT(0.707106781f)
#define SIXTH SPLAT(0.166666667f)
#define HALF SPLAT(0.5f)
#define ONE SPLAT(1.0f)
#define THREE SPLAT(3.0f)

// Returns the share of a normal distribution below x.
static vec normal_share(vec x) { return SPLAT(0.5f) * (SPLAT(1.0f) + erf_f32(x * ROOT_HALF)); }

// Returns 1 / (1 + exp(-v)) and stores its derivative in `bump`, both without cancellation.
static vec logistic(vec v, __private vec* bump) {
  const vec e = exp_f32(-fabs(v)), r = reciprocal(SPLAT(1.0f) + e);
  *bump = e * r * r;
  return select(r, e * r, (ivec)(v < SPLAT(0.0f)));
}

// Returns x / 6 + 1 / 2 between 0 and 1. Lets a NaN pass through.
static vec hard_share(vec x) {
  const vec h = fma(x, SIXTH, HALF);
  return select(select(h, ONE, (ivec)(h > ONE)), SPLAT(0.0f), (ivec)(h < SPLAT(0.0f)));
}

// Returns the value, or x if x is a NaN, because compilers may choose either NaN for sums and products of two NaNs.
static vec or_nan(vec value, vec x) { return select(value, x, (ivec)(x != x)); }

static vec activated(vec x, int kind, float slope) {
  vec bump;
  switch (kind) {
    case LEAKY_RELU:
      return select(SPLAT(slope) * x, x, (ivec)(x > SPLAT(0.0f)));
    case GELU:
      return x * normal_share(x);
    case GELU_TANH:
      return or_nan(x * logistic(x * fma(GELU_3, x * x, GELU_1), &bump), x);
    case SILU:
      return or_nan(x * logistic(x, &bump), x);
    case TANH:
      return tanh_f32(x);
    case SIGMOID:
      return logistic(x, &bump);
    case HARD_SIGMOID:
      return hard_share(x);
    default:
      return x * hard_share(x);
  }
}

// Returns value + x * bump. At an infinite x, bump is 0 and the product would be NaN.
static vec plus_product(vec value, vec x, vec bump) {
  return select(value, value + x * bump, (ivec)(bump > SPLAT(0.0f)));
}

static vec slope_at(vec y, int kind, float slope) {
  vec bump, value;
  switch (kind) {
    case LEAKY_RELU:
      return select(SPLAT(slope), SPLAT(1.0f), (ivec)(y > SPLAT(0.0f)));
    case GELU:
      return plus_product(normal_share(y), y, SPLAT(0.39894228f) * exp_f32(SPLAT(-0.5f) * y * y));
    case GELU_TANH:
      value = logistic(y * fma(GELU_3, y * y, GELU_1), &bump);
      value = select(value, fma(y * bump, fma(SPLAT(3.0f) * GELU_3, y * y, GELU_1), value), (ivec)(bump > SPLAT(0.0f)));
      return or_nan(value, y);
    case SILU:
      value = logistic(y, &bump);
      return or_nan(plus_product(value, y, bump), y);
    case TANH:
      return fma(-y, y, SPLAT(1.0f));
    case SIGMOID:
      return y * (SPLAT(1.0f) - y);
    case HARD_SIGMOID:
      return select(SPLAT(0.0f), SIXTH, (ivec)(y > SPLAT(0.0f)) & (ivec)(y < ONE));
    default:
      value = select(fma(y, SPLAT(2.0f) * SIXTH, HALF), ONE, (ivec)(y >= THREE));
      return select(value, SPLAT(0.0f), (ivec)(y <= -THREE));
  }
}

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
