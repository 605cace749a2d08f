// linear_update: the input gradient of a fully connected layer and an SGD step on its weight, in one pass over the
// weight (f32). It equals three ops:
//
//   dx = dy * weight^T          gemm(dy, false, weight, true, dx), with the weight before the step
//   grad = x^T * dy             gemm(x, true, dy, false, grad)
//   weight, state: the step     optimizer_step(grad, weight, state), kind sgd
//
// and, if x is the output of a relu (`after_relu`), a fourth: act_grad(dx, x, relu, dx), so that dx is the gradient
// with respect to the input of the relu.
//
//   inputs   x: B x I, B <= kLinearUpdateRows; dy: B x O
//   outputs  weight: I x O, not empty, updated in place; state: I x O, updated in place, 0 before the first step, or
//            0 x 0 without momentum; dx: B x I, or 0 x 0 if not needed. dx may be the same view as x (in place);
//            otherwise none overlaps another or an input
//   attributes t, the step number, from 1; after_relu, 0 or 1; lr, weight_decay, momentum
//
// Weight and state get the bits that the backend's own ops would compute in sequence, with grad dense and rounded to
// f32. With CLBlast's gemm, the bits may differ, because this op sums grad like the backend's own gemm. The order in
// which an element of dx is summed is the backend's choice but depends only on O, so splitting a weight along I changes
// no bit. A backend may skip the products with an x of 0, so a non-finite dy may have no effect there.
#pragma once

#include <algorithm>
#include <cmath>

#include "sdk/ops/optimizer_step.hpp"

namespace mokume::ops {

// Arithmetic limits larger batches, for which two gemms and a step are as fast: docs/adr/0010.
inline constexpr int64_t kLinearUpdateRows = 16;

// Returns whether linear_update supports this step: SGD with a small batch, without nesterov, dampening or clipping.
inline bool has_linear_update(const OptimizerSettings& settings, int64_t batch) {
  return settings.kind == Optimizer::sgd && settings.nesterov == 0 && settings.b == 0 && settings.clip == 0 &&
         batch <= kLinearUpdateRows;
}

// `settings` must satisfy has_linear_update(). The op uses `state` only if settings.states() > 0; dx may be {}.
inline mk_op linear_update(const mk_tensor& x, const mk_tensor& dy, const mk_tensor& weight, const mk_tensor& state,
                           const mk_tensor& dx, const OptimizerSettings& settings, int64_t t, bool after_relu = false) {
  const mk_tensor none = sdk::matrix(nullptr, 0, 0);
  mk_op op = sdk::make_op(MK_OP_LINEAR_UPDATE, {x, dy},
                          {weight, settings.states() > 0 ? state : none, dx.dtype != 0 ? dx : none});
  op.linear_update = {t, after_relu, settings.lr, settings.weight_decay, settings.a};
  return op;
}

inline OptimizerSettings linear_update_settings(const mk_op& op) {
  const mk_linear_update& a = op.linear_update;
  return {Optimizer::sgd, a.lr, a.weight_decay, a.momentum, 0, 0};
}

MOKUME_ATTRIBUTES(kLinearUpdateAttributes, mk_linear_update, MK_LINEAR_UPDATE(MOKUME_ATTRIBUTE));

inline void check_linear_update(const mk_op& op) {
  const auto refuse = [](const std::string& why) { throw Error(MK_INVALID_ARGUMENT, "linear_update: " + why); };
  const int64_t batch = op.inputs[0].rows, inputs = op.outputs[0].rows, outputs = op.outputs[0].columns;
  const mk_linear_update& a = op.linear_update;
  if (a.t < 1) refuse("steps count from 1");
  if (a.after_relu != 0 && a.after_relu != 1) refuse("after_relu is neither 0 nor 1");
  for (const double setting : {a.lr, a.weight_decay, a.momentum})
    if (!std::isfinite(setting) || setting < 0) refuse("settings must be finite and not negative");
  if (inputs < 1 || outputs < 1) refuse("weight is empty");
  if (batch > kLinearUpdateRows) refuse("x has more than " + std::to_string(kLinearUpdateRows) + " rows");
  sdk::check_operand("linear_update", "x", op.inputs[0], batch, inputs);
  sdk::check_operand("linear_update", "dy", op.inputs[1], batch, outputs);
  sdk::check_operand("linear_update", "weight", op.outputs[0], inputs, outputs);
  const bool stateful = a.momentum != 0;
  sdk::check_operand("linear_update", "state", op.outputs[1], stateful ? inputs : 0, stateful ? outputs : 0);
  const bool wanted = op.outputs[2].rows != 0 || op.outputs[2].columns != 0;
  sdk::check_operand("linear_update", "dx", op.outputs[2], wanted ? batch : 0, wanted ? inputs : 0);
}

// The tolerance of dx is relative to |dy| * |weight|^T, as in gemm. For state and weight it is relative to the sums of
// the magnitudes of their terms, with |x|^T * |dy| for the gradient.
inline double tolerance_linear_update(const mk_op& op) {
  const auto terms = static_cast<double>(std::max(op.inputs[0].rows, op.inputs[1].columns));
  return 4.0 * (std::sqrt(terms) + 8.0) * 0x1p-24;
}

inline sdk::Cost cost_linear_update(const mk_op& op) {
  const auto batch = static_cast<double>(op.inputs[0].rows), inputs = static_cast<double>(op.outputs[0].rows),
             outputs = static_cast<double>(op.outputs[0].columns);
  const bool wanted = op.outputs[2].columns != 0, stateful = op.outputs[1].columns != 0;
  const double weights = inputs * outputs;
  return {weights * (batch * (wanted ? 4 : 2) + (stateful ? 6 : 4)),
          4 * (weights * (stateful ? 4 : 2) + batch * (outputs + inputs * (wanted ? 2 : 1)))};
}

}  // namespace mokume::ops
