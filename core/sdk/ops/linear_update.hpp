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
//   outputs  weight: I x O, not empty, updated in place; state: I x O, updated in place, 0 before the first step; 0 x 0
//            without momentum; dx: B x I, or 0 x 0 if not needed. dx may be the same view as x (in place);
//            otherwise none overlaps another or an input
//   integers [0] = t, the step number, from 1, [1] = after_relu, 0 or 1
//   reals  [0] = lr, [1] = weight_decay, [2] = momentum
//
// Weight and state get the bits that the backend's own ops would compute one after another, with grad dense and rounded
// to f32. CLBlast's gemm is the exception: with it, grad is summed in the order of gemm.hpp. The order in which an
// element of dx is summed is the backend's choice but depends only on O, so splitting a weight along I changes no bit.
// A backend may skip the products with an x of 0, so a non-finite dy need not show there.
#pragma once

#include <algorithm>
#include <cmath>

#include "sdk/ops/optimizer_step.hpp"

namespace mokume::ops {

// Larger batches are limited by arithmetic; for them, two gemms and a step are as fast: docs/adr/0010.
inline constexpr int64_t kLinearUpdateRows = 16;

// Whether linear_update supports this step: SGD, without Nesterov's momentum, dampening and clipping.
inline bool has_linear_update(const OptimizerSettings& settings, int64_t batch) {
  return settings.kind == Optimizer::sgd && !settings.nesterov && settings.b == 0 && settings.clip == 0 &&
         batch <= kLinearUpdateRows;
}

// `settings` must satisfy has_linear_update(). `state` is used only as far as settings.states() requires; dx is {} if
// not needed.
inline mk_op linear_update(const mk_tensor& x, const mk_tensor& dy, const mk_tensor& weight, const mk_tensor& state,
                           const mk_tensor& dx, const OptimizerSettings& settings, int64_t t, bool after_relu = false) {
  const mk_tensor none = sdk::matrix(nullptr, 0, 0);
  mk_op op = sdk::make_op(MK_OP_LINEAR_UPDATE);
  op.n_inputs = 2;
  op.n_outputs = 3;
  op.inputs[0] = x;
  op.inputs[1] = dy;
  op.outputs[0] = weight;
  op.outputs[1] = settings.states() > 0 ? state : none;
  op.outputs[2] = dx.dtype != 0 ? dx : none;
  op.integers[0] = t;
  op.integers[1] = after_relu ? 1 : 0;
  op.reals[0] = settings.lr;
  op.reals[1] = settings.weight_decay;
  op.reals[2] = settings.a;
  return op;
}

inline OptimizerSettings linear_update_settings(const mk_op& op) {
  return {Optimizer::sgd, op.reals[0], op.reals[1], op.reals[2], 0, 0};
}

inline void check_linear_update(const mk_op& op) {
  const auto refuse = [](const std::string& why) { throw Error(MK_INVALID_ARGUMENT, "linear_update: " + why); };
  const auto check = [](const char* name, const mk_tensor& t, int64_t rows, int64_t columns) {
    sdk::check_view("linear_update", name, t, MK_F32);
    sdk::check_shape("linear_update", name, t, rows, columns);
  };
  const int64_t batch = op.inputs[0].rows, inputs = op.outputs[0].rows, outputs = op.outputs[0].columns;
  if (op.integers[0] < 1) refuse("steps count from 1");
  if (op.integers[1] != 0 && op.integers[1] != 1) refuse("after_relu is neither 0 nor 1");
  for (int i = 0; i < 3; ++i)
    if (!std::isfinite(op.reals[i]) || op.reals[i] < 0) refuse("settings must be finite and not negative");
  if (inputs < 1 || outputs < 1) refuse("weight is empty");
  if (batch > kLinearUpdateRows) refuse("x has more than " + std::to_string(kLinearUpdateRows) + " rows");
  check("x", op.inputs[0], batch, inputs);
  check("dy", op.inputs[1], batch, outputs);
  check("weight", op.outputs[0], inputs, outputs);
  const bool stateful = op.reals[2] != 0;
  check("state", op.outputs[1], stateful ? inputs : 0, stateful ? outputs : 0);
  const bool wanted = op.outputs[2].rows != 0 || op.outputs[2].columns != 0;
  check("dx", op.outputs[2], wanted ? batch : 0, wanted ? inputs : 0);
}

// dx: relative to |dy| * |weight|^T, as in gemm. State and weight: relative to the sums of the magnitudes of their
// terms, with |x|^T * |dy| for the gradient.
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
