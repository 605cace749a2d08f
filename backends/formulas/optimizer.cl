#pragma once
// Defines steps of optimizers (sdk/ops/optimizer_step.hpp). `o` holds the numbers of step_numbers.hpp; STEP_NUMBERS is
// its type.
#include "formulas/math.cl"

// Returns the factor that limits the norm, sqrt(norm2), to `clip`. A NaN gives NaN.
FORMULA float clipping(float norm2, float clip) {
  const float factor = QUOTIENT(clip, ROOT(norm2) + 1e-6f);
  return factor > 1.0f ? 1.0f : factor;
}

// Returns grad * factor + decay * weight.
FORMULA vec gradient_of(const STEP_NUMBERS o, vec grad, vec factor, vec weight) {
  return fma(SPLAT(o.decay), weight, grad * factor);
}

// Holds a weight and its states. Steps use only the states that OptimizerSettings::states() counts.
typedef struct {
  vec weight, state, state2, state3;
} Step;

FORMULA Step sgd_step(const STEP_NUMBERS o, vec g, Step at) {
  at.weight = fma(SPLAT(-o.lr), g, at.weight);
  return at;
}

FORMULA Step momentum_step(const STEP_NUMBERS o, vec g, Step at) {
  at.state = o.first ? g : fma(SPLAT(o.a), at.state, SPLAT(o.one_minus_b) * g);
  at.weight = fma(SPLAT(-o.lr), o.nesterov ? fma(SPLAT(o.a), at.state, g) : at.state, at.weight);
  return at;
}

FORMULA Step moments(const STEP_NUMBERS o, vec g, Step at) {
  at.state = fma(SPLAT(o.a), at.state, SPLAT(o.one_minus_a) * g);
  at.state2 = fma(SPLAT(o.one_minus_b) * g, g, SPLAT(o.b) * at.state2);
  return at;
}

FORMULA vec adam_weight(const STEP_NUMBERS o, Step at, vec moment) {
  const vec d = QUOTIENT(at.state, fma(ROOT(moment), SPLAT(o.to_root), SPLAT(o.eps)));
  return fma(SPLAT(-o.step_size), d, at.weight * SPLAT(o.shrink));
}

// Computes AdamW, too. `shrink` is 1 for Adam.
FORMULA Step adam_step(const STEP_NUMBERS o, vec g, Step at) {
  at = moments(o, g, at);
  at.weight = adam_weight(o, at, at.state2);
  return at;
}

// Computes adam_step with the largest second moment so far. The comparison lets a NaN of the moment pass.
FORMULA Step amsgrad_step(const STEP_NUMBERS o, vec g, Step at) {
  at = moments(o, g, at);
  at.state3 = select(at.state2, at.state3, (ivec)(at.state2 <= at.state3));
  at.weight = adam_weight(o, at, at.state3);
  return at;
}

FORMULA vec mean_square(const STEP_NUMBERS o, vec x, vec before) {
  return fma(SPLAT(o.one_minus_a) * x, x, SPLAT(o.a) * before);
}

FORMULA Step rmsprop_step(const STEP_NUMBERS o, vec g, Step at) {
  at.state = mean_square(o, g, at.state);
  at.weight = fma(SPLAT(-o.lr), QUOTIENT(g, ROOT(at.state) + SPLAT(o.eps)), at.weight);
  return at;
}

FORMULA Step rmsprop_momentum_step(const STEP_NUMBERS o, vec g, Step at) {
  at.state = mean_square(o, g, at.state);
  at.state2 = fma(SPLAT(o.b), at.state2, QUOTIENT(g, ROOT(at.state) + SPLAT(o.eps)));
  at.weight = fma(SPLAT(-o.lr), at.state2, at.weight);
  return at;
}

FORMULA Step adadelta_step(const STEP_NUMBERS o, vec g, Step at) {
  at.state = mean_square(o, g, at.state);
  const vec d = QUOTIENT(ROOT(at.state2 + SPLAT(o.eps)), ROOT(at.state + SPLAT(o.eps))) * g;
  at.state2 = mean_square(o, d, at.state2);
  at.weight = fma(SPLAT(-o.lr), d, at.weight);
  return at;
}
