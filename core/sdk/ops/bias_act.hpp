// bias_act: out = activation(x + bias), with the same bias in every row, or one for each element (f32).
//
//   inputs   x: M x K, bias: vector of K, or M x K (n_inputs is 1 without it)
//   outputs  out: M x K; may be the same view as x
//   integers [0] = Activation
//
// act_grad: dx = grad * activation'(x), expressed through the activation's output y: relu passes grad where y > 0.
//
//   inputs   grad: M x K, y: M x K   outputs  dx: M x K; may be the same view as grad
//   integers [0] = Activation
#pragma once

#include "sdk/tensor.hpp"

namespace mokume::ops {

enum class Activation : int64_t { none = 0, relu = 1 };

// No bias if bias.buffer == NULL.
inline mk_op bias_act(const mk_tensor& x, const mk_tensor& bias, Activation activation, const mk_tensor& out) {
  mk_op op = sdk::make_op(MK_OP_BIAS_ACT);
  op.n_inputs = bias.buffer == nullptr ? 1 : 2;
  op.n_outputs = 1;
  op.inputs[0] = x;
  if (op.n_inputs == 2) op.inputs[1] = bias;
  op.outputs[0] = out;
  op.integers[0] = static_cast<int64_t>(activation);
  return op;
}

inline mk_op act_grad(const mk_tensor& grad, const mk_tensor& y, Activation activation, const mk_tensor& dx) {
  mk_op op = sdk::make_op(MK_OP_ACT_GRAD);
  op.n_inputs = 2;
  op.n_outputs = 1;
  op.inputs[0] = grad;
  op.inputs[1] = y;
  op.outputs[0] = dx;
  op.integers[0] = static_cast<int64_t>(activation);
  return op;
}

inline void check_activation(const char* name, const mk_op& op) {
  if (op.integers[0] < 0 || op.integers[0] > static_cast<int64_t>(Activation::relu))
    throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": unknown activation " + std::to_string(op.integers[0]));
}

inline void check_bias_act(const mk_op& op) {
  check_activation("bias_act", op);
  const mk_tensor& x = op.inputs[0];
  sdk::check_view("bias_act", "x", x, MK_F32);
  sdk::check_view("bias_act", "out", op.outputs[0], MK_F32);
  sdk::check_shape("bias_act", "out", op.outputs[0], x.rows, x.columns);
  if (op.n_inputs < 2) return;
  sdk::check_view("bias_act", "bias", op.inputs[1], MK_F32);
  if (op.inputs[1].rows != x.rows) sdk::check_shape("bias_act", "bias", op.inputs[1], 1, x.columns);
  sdk::check_shape("bias_act", "bias", op.inputs[1], op.inputs[1].rows, x.columns);
}

inline void check_act_grad(const mk_op& op) {
  check_activation("act_grad", op);
  const mk_tensor& grad = op.inputs[0];
  sdk::check_view("act_grad", "grad", grad, MK_F32);
  sdk::check_view("act_grad", "y", op.inputs[1], MK_F32);
  sdk::check_view("act_grad", "dx", op.outputs[0], MK_F32);
  sdk::check_shape("act_grad", "y", op.inputs[1], grad.rows, grad.columns);
  sdk::check_shape("act_grad", "dx", op.outputs[0], grad.rows, grad.columns);
}

// Relative to |x| + |bias|: one sum. relu of a NaN is NaN.
inline double tolerance_bias_act(const mk_op&) { return 0x1p-24; }

// Exact on every device.
inline double tolerance_act_grad(const mk_op&) { return 0.0; }

inline sdk::Cost cost_bias_act(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {2 * e, 8 * e};
}

inline sdk::Cost cost_act_grad(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {e, 12 * e};
}

}  // namespace mokume::ops
