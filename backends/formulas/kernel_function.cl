#pragma once
// Defines kernel functions of dot products (sdk/ops/kernel_map.hpp).
#include "formulas/math.cl"

// These are values of ops::KernelKind.
#define LINEAR 0
#define POLYNOMIAL 1
#define RBF 2
#define RBF_MINUS_ONE 4
#define NEEDS_NORMS(kind) ((kind) == RBF || (kind) == RBF_MINUS_ONE)

// Returns exp(x). Near 0, the result is the exact value, rounded: 1 plus a sum of powers up to x^8.
FORMULA vec rbf_f32(vec x) {
  vec p = SPLAT(2.48015873e-5f);
  p = fma(p, x, SPLAT(1.98412698e-4f));
  p = fma(p, x, SPLAT(1.38888889e-3f));
  p = fma(p, x, SPLAT(8.33333333e-3f));
  p = fma(p, x, SPLAT(4.16666667e-2f));
  p = fma(p, x, SPLAT(0.166666667f));
  p = fma(p, x, SPLAT(0.5f));
  return select(exp_f32(x), SPLAT(1.0f) + fma(p * x, x, x), (ivec)(fabs(x) < SPLAT(0.5f)));
}

// Returns the argument of the kinds without norms.
FORMULA vec affine(vec dot, float gamma, float coef0) { return fma(SPLAT(gamma), dot, SPLAT(coef0)); }

FORMULA vec kernel_value(int kind, vec dot, float norm_x, vec norm_y, float gamma, float coef0, int degree) {
  if (kind == LINEAR) return dot;
  if (NEEDS_NORMS(kind)) {
    const vec distance = fma(SPLAT(-2.0f), dot, SPLAT(norm_x) + norm_y);
    const vec x = SPLAT(-gamma) * select(distance, SPLAT(0.0f), (ivec)(distance < SPLAT(0.0f)));
    return kind == RBF ? rbf_f32(x) : rbf_f32(x) - SPLAT(1.0f);
  }
  const vec argument = affine(dot, gamma, coef0);
  if (kind != POLYNOMIAL) return tanh_f32(argument);
  vec power = SPLAT(1.0f);
  for (int i = 0; i < degree; ++i) power *= argument;
  return power;
}
