// optimizer_step: one step on flat parameters, elementwise (f32), with PyTorch's definitions and defaults.
//
//   inputs   grad: vector of n; norm2: 1 x 1, the squared norm of all gradients (n_inputs is 1 without it)
//   outputs  weight: vector of n, updated in place; state: one to three vectors of n (n_outputs - 1, see
//            below), updated in place, 0 before the first step; none overlaps another
//   attributes for the settings: kind, lr, weight_decay, a, b, eps; nesterov, 0 or 1 (sgd only); clip, the largest
//            norm of all gradients (0: any); amsgrad, 0 or 1 (adam and adamw only)
//            t, the step number, from 1
//
// With norm2, the op first multiplies grad by min(1, clip / (sqrt(norm2) + 1e-6)), as PyTorch's clip_grad_norm_ does.
// With g = grad + weight_decay * weight and states s, u:
//   sgd       a = momentum, b = dampening; no state if a is 0: weight -= lr * g;
//             else s = t == 1 ? g : a * s + (1 - b) * g; weight -= lr * (nesterov ? g + a * s : s)
//   adam      a = beta1, b = beta2; s = a * s + (1 - a) * g; u = b * u + (1 - b) * g * g;
//             weight -= lr / (1 - a^t) * s / (sqrt(u) / sqrt(1 - b^t) + eps)
//   adamw     as adam, but with g = grad, and first weight *= 1 - lr * weight_decay
//   amsgrad   as adam or adamw, with v = max(v, u), a third state, in place of u under the root (Reddi, Kale and Kumar,
//             On the Convergence of Adam and Beyond, 2018)
//   rmsprop   a = alpha, b = momentum; s = a * s + (1 - a) * g * g; d = g / (sqrt(s) + eps);
//             b == 0: weight -= lr * d (one state); else u = b * u + d, weight -= lr * u
//   adadelta  a = rho; s = a * s + (1 - a) * g * g; d = sqrt(u + eps) / sqrt(s + eps) * g;
//             u = a * u + (1 - a) * d * d; weight -= lr * d
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

using Optimizer = mk_optimizer;

struct OptimizerSettings {
  MK_OPTIMIZER_SETTINGS(MOKUME_FIELD)

  operator mk_optimizer_settings() const { return std::bit_cast<mk_optimizer_settings>(*this); }
  bool is_adam() const { return kind == Optimizer::adam || kind == Optimizer::adamw; }
  uint32_t states() const {
    if (kind == Optimizer::sgd) return a == 0 ? 0 : 1;
    if (is_adam() && amsgrad != 0) return 3;
    return kind == Optimizer::rmsprop && b == 0 ? 1 : 2;
  }
};

// The op uses only the states that settings.states() requires, and `norm2` only if settings.clip is above 0.
inline mk_op optimizer_step(const mk_tensor& grad, const mk_tensor& weight, const mk_tensor& state,
                            const mk_tensor& state2, const OptimizerSettings& settings, int64_t t,
                            const mk_tensor& norm2 = {}, const mk_tensor& state3 = {}) {
  mk_op op = sdk::make_op(MK_OP_OPTIMIZER_STEP, {grad}, {weight});
  if (settings.clip > 0) op.inputs[op.n_inputs++] = norm2;
  for (const mk_tensor& s : {state, state2, state3})
    if (op.n_outputs <= settings.states()) op.outputs[op.n_outputs++] = s;
  op.optimizer_step = {settings, t};
  return op;
}

inline OptimizerSettings optimizer_of(const mk_op& op) {
  return std::bit_cast<OptimizerSettings>(op.optimizer_step.settings);
}

MOKUME_ATTRIBUTES(kOptimizerStepAttributes, mk_optimizer_step, MK_OPTIMIZER_STEP(MOKUME_ATTRIBUTE, MOKUME_PART));

inline void check_optimizer_settings(const mk_op& op) {
  const auto refuse = [](const std::string& why) { throw Error(MK_INVALID_ARGUMENT, "optimizer_step: " + why); };
  const OptimizerSettings settings = optimizer_of(op);
  if (settings.kind < Optimizer::sgd || settings.kind > Optimizer::adamw)
    refuse("unknown optimizer " + std::to_string(static_cast<int64_t>(settings.kind)));
  if (op.optimizer_step.t < 1) refuse("steps count from 1");
  for (const double setting : {settings.lr, settings.weight_decay, settings.a, settings.b, settings.eps, settings.clip})
    if (!std::isfinite(setting) || setting < 0) refuse("settings must be finite and not negative");
  if ((settings.a >= 1 && settings.kind != Optimizer::sgd) || (settings.b >= 1 && settings.is_adam()))
    refuse("a decay must be below 1");
  const auto is_flag = [](int64_t value) { return value == 0 || value == 1; };
  if (!is_flag(settings.nesterov) || (settings.nesterov != 0 && settings.kind != Optimizer::sgd))
    refuse("nesterov is 0, or 1 for sgd");
  if (!is_flag(settings.amsgrad) || (settings.amsgrad != 0 && !settings.is_adam()))
    refuse("amsgrad is 0, or 1 for adam and adamw");
  if ((op.n_inputs == 2) != (settings.clip > 0)) refuse("norm2 and clip go together");
  if (op.n_outputs != 1 + settings.states()) refuse("wrong number of states");
}

inline void check_optimizer_step(const mk_op& op) {
  check_optimizer_settings(op);
  sdk::check_operand("optimizer_step", "grad", op.inputs[0], 1, op.inputs[0].columns);
  if (op.n_inputs == 2) {
    sdk::check_operand("optimizer_step", "norm2", op.inputs[1], 1, 1);
  }
  for (uint32_t o = 0; o < op.n_outputs; ++o) {
    sdk::check_operand("optimizer_step", o == 0 ? "weight" : "state", op.outputs[o], 1, op.inputs[0].columns);
  }
}

// The tolerance of the weights is relative to |weight| + |step|, with the inputs of the step rounded, and that of a
// state is relative to the sum of the magnitudes of its terms.
//
// The list counts roundings in units of 2^-24, without fma, for a square root of 3 ulp (6 units) and a quotient of 2.5
// ulp (5 units), which OpenCL C allows devices without correct rounding (specification, relative error as ULPs).
// Each setting is rounded once.
//   g                        3
//   sgd      s 4 + 1; weight s + 3 = 8
//   squares  2 g + 3 + 1 = 10: the second moment of adam, s of rmsprop and adadelta
//   adam     s 6; root 10 / 2 + 6, its scale 2, eps 2 = 15; quotient 5; lr 2; weight 1: 29
//   rmsprop  root 10 / 2 + 6, eps 2 = 13; d = g + root + 5 = 21; u 22; lr 2; weight 1: 25
//   adamw    adam, weight 1 + 2 more: 32
//   adadelta roots 2 / 2 + 6 and (10 + 2) / 2 + 6; d = both + 5 + g + 1 = 28; u 2 d + 3 + 1 = 60; weight d + 3
// Clipping adds 6 / 2 + 6 + 5 + 2 = 16 to g.
inline double tolerance_optimizer_step(const mk_op& op) {
  constexpr double kUnits[] = {8, 32, 32, 64, 32};  // indexed by Optimizer
  constexpr double kClipped[] = {32, 64, 64, 128, 64};
  return (op.n_inputs == 2 ? kClipped : kUnits)[static_cast<size_t>(op.optimizer_step.settings.kind)] * 0x1p-24;
}

inline sdk::Cost cost_optimizer_step(const mk_op& op) {
  const double n = static_cast<double>(op.inputs[0].columns);
  return {15 * n, 4 * n * (1 + 2 * static_cast<double>(op.n_outputs))};
}

}  // namespace mokume::ops
