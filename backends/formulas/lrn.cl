#pragma once
// Defines parts of local response normalisation (sdk/ops/lrn.hpp).
#include "formulas/math.cl"

// Returns the divisor before its power, from the sum of the squares of the neighbours.
FORMULA vec lrn_norm(vec sum, float bias, float share) { return SPLAT(bias) + SPLAT(share) * sum; }

FORMULA vec power_of(vec x, float exponent) { return exp_f32(SPLAT(exponent) * log_f32(x)); }

// Returns a gradient from the two sums of lrn_grad: `direct` is grad * norm^-beta.
FORMULA vec lrn_difference(vec direct, vec x, vec sum, float share, float beta) {
  return direct - SPLAT(2.0f * share * beta) * x * sum;
}
