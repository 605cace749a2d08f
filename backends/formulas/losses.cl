#pragma once
// Defines parts of the losses of a row (sdk/ops/loss.hpp).
#include "formulas/math.cl"

// `below` is the sum of (largest - logit), and per_column is 1 / columns.
FORMULA float smoothed(float loss, float log_sum, float below, float smoothing, float per_column) {
  return (1.0f - smoothing) * loss + smoothing * (log_sum + below * per_column);
}

// Returns the share of a column that the gradient subtracts from its probability.
FORMULA float wish_of(bool is_target, float smoothing, float per_column) {
  return (is_target ? 1.0f - smoothing : 0.0f) + smoothing * per_column;
}

// Holds the factors of a loss and of its gradient.
typedef struct {
  float loss, grad;
} Focal;

FORMULA Focal focal(float loss, float gamma) {
  // `rest` is 1 - p = 1 - exp(-loss), without cancellation where loss is small.
  const float p = FIRST(exp_f32(SPLAT(-loss)));
  const float rest = loss < 0.25f ? loss * (1.0f - loss * (0.5f - loss * (1.0f / 6.0f - loss * (1.0f / 24.0f -
                                    loss * (1.0f / 120.0f - loss * (1.0f / 720.0f))))))
                                  : 1.0f - p;
  const bool some = !(rest < 1e-30f);  // true for NaN
  const float power = some ? FIRST(exp_f32(SPLAT(gamma) * log_f32(SPLAT(rest)))) : 0.0f;
  const float more = p > 0.0f && some ? gamma * power * p * QUOTIENT(loss, rest) : 0.0f;
  const Focal factors = {power, power + more};
  return factors;
}

// These are values of ops::Distance.
#define HUBER 1
#define SMOOTH_L1 2

// Holds the loss of a difference and its derivative.
typedef struct {
  float loss, slope;
} Distance;

FORMULA Distance distance_of(float d, int kind, float delta) {
  const float size = fabs(d);
  Distance at = {d * d, 2.0f * d};
  if (kind == HUBER) {
    const bool far = size > delta;
    at.loss = far ? delta * (size - 0.5f * delta) : 0.5f * at.loss;
    at.slope = far ? copysign(delta, d) : d;
  } else if (kind == SMOOTH_L1) {
    const bool far = size >= delta;
    at.slope = far ? (d == 0.0f ? 0.0f : copysign(1.0f, d)) : QUOTIENT(d, delta);
    at.loss = far ? size - 0.5f * delta : 0.5f * d * at.slope;
  }
  return at;
}
