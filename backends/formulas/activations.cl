#pragma once
// Defines activations other than relu, and their derivatives (sdk/ops/bias_act.hpp). `kind` is a constant in fast loops.
#include "formulas/math.cl"

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
FORMULA vec normal_share(vec x) { return SPLAT(0.5f) * (SPLAT(1.0f) + erf_f32(x * ROOT_HALF)); }

// Holds 1 / (1 + exp(-v)) and its derivative.
typedef struct {
  vec value, bump;
} Logistic;

// Computes both without cancellation.
FORMULA Logistic logistic(vec v) {
  const vec e = exp_f32(-fabs(v)), r = reciprocal(SPLAT(1.0f) + e);
  const Logistic s = {select(r, e * r, (ivec)(v < SPLAT(0.0f))), e * r * r};
  return s;
}

// Returns x / 6 + 1 / 2 between 0 and 1. Lets a NaN pass through.
FORMULA vec hard_share(vec x) {
  const vec h = fma(x, SIXTH, HALF);
  return select(select(h, ONE, (ivec)(h > ONE)), SPLAT(0.0f), (ivec)(h < SPLAT(0.0f)));
}

// Returns the value, or x if x is a NaN, because compilers may choose either NaN for sums and products of two NaNs.
FORMULA vec or_nan(vec value, vec x) { return select(value, x, (ivec)(x != x)); }

FORMULA vec activated(vec x, int kind, float slope) {
  switch (kind) {
    case LEAKY_RELU:
      return select(SPLAT(slope) * x, x, (ivec)(x > SPLAT(0.0f)));
    case GELU:
      return x * normal_share(x);
    case GELU_TANH:
      return or_nan(x * logistic(x * fma(GELU_3, x * x, GELU_1)).value, x);
    case SILU:
      return or_nan(x * logistic(x).value, x);
    case TANH:
      return tanh_f32(x);
    case SIGMOID:
      return logistic(x).value;
    case HARD_SIGMOID:
      return hard_share(x);
    default:
      return x * hard_share(x);
  }
}

// Returns value + x * bump. At an infinite x, bump is 0 and the product would be NaN.
FORMULA vec plus_product(vec value, vec x, vec bump) {
  return select(value, value + x * bump, (ivec)(bump > SPLAT(0.0f)));
}

FORMULA vec slope_at(vec y, int kind, float slope) {
  Logistic s = {y, y};
  vec value;
  switch (kind) {
    case LEAKY_RELU:
      return select(SPLAT(slope), SPLAT(1.0f), (ivec)(y > SPLAT(0.0f)));
    case GELU:
      return plus_product(normal_share(y), y, SPLAT(0.39894228f) * exp_f32(SPLAT(-0.5f) * y * y));
    case GELU_TANH:
      s = logistic(y * fma(GELU_3, y * y, GELU_1));
      value = fma(y * s.bump, fma(SPLAT(3.0f) * GELU_3, y * y, GELU_1), s.value);
      return or_nan(select(s.value, value, (ivec)(s.bump > SPLAT(0.0f))), y);
    case SILU:
      s = logistic(y);
      return or_nan(plus_product(s.value, y, s.bump), y);
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
