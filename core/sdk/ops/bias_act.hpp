// bias_act: out = activation(x + bias), with the same bias in every row, or one for each element (f32).
//
//   inputs   x: M x K, bias: vector of K, or M x K (without a bias, n_inputs is 1)
//   outputs  out: M x K; may be the same view as x
//   attributes activation; slope (leaky_relu only)
//
// act_grad: dx = grad * activation'(x).
//
//   inputs   grad: M x K, y: M x K   outputs  dx: M x K; may be the same view as grad
//   attributes activation; slope (leaky_relu only)
//
// For most activations, y is the output of the activation, and the derivative is a function of y. For gelu, gelu_tanh,
// silu and hard_swish, y is the input (takes_input()). All functions are those of PyTorch, with s = 1 / (1 + exp(-v)):
//
//   activation    value                                      derivative
//   none          x                                          1
//   relu          max(0, x)                                  y > 0 ? 1 : 0
//   leaky_relu    x > 0 ? x : slope * x                      y > 0 ? 1 : slope
//   tanh          tanh(x)                                    1 - y^2
//   sigmoid       s, v = x                                   y (1 - y)
//   silu          x s, v = x                                 s + x s (1 - s)
//   gelu          x P, P = (1 + erf(x / sqrt(2))) / 2        P + x exp(-x^2 / 2) / sqrt(2 pi)
//   gelu_tanh     x s, v = sqrt(8 / pi) (x + 0.044715 x^3)   s + x s (1 - s) v'
//   hard_sigmoid  h = x / 6 + 1 / 2 between 0 and 1          0 < y < 1 ? 1 / 6 : 0
//   hard_swish    x h                                        -3 < x < 3 ? x / 3 + 1 / 2 : (x < 0 ? 0 : 1)
//
// A NaN in an operand gives NaN, except that act_grad of relu, leaky_relu and hard_sigmoid treats a NaN in y as a
// negative value. At -inf, silu, gelu, gelu_tanh and hard_swish are NaN, as in PyTorch; their derivatives are 0 at -inf
// and 1 at inf.
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

using Activation = mk_activation;

// Returns whether the derivative is a function of the activation's input, not of its output.
inline bool takes_input(Activation a) {
  return a == Activation::gelu || a == Activation::gelu_tanh || a == Activation::silu || a == Activation::hard_swish;
}

// There is no bias if bias.buffer == NULL.
inline mk_op bias_act(const mk_tensor& x, const mk_tensor& bias, Activation activation, const mk_tensor& out,
                      double slope = 0) {
  mk_op op = sdk::make_op(MK_OP_BIAS_ACT, {x}, {out});
  if (bias.buffer != nullptr) op.inputs[op.n_inputs++] = bias;
  op.bias_act = {activation, slope};
  return op;
}

inline mk_op act_grad(const mk_tensor& grad, const mk_tensor& y, Activation activation, const mk_tensor& dx,
                      double slope = 0) {
  mk_op op = sdk::make_op(MK_OP_ACT_GRAD, {grad, y}, {dx});
  op.bias_act = {activation, slope};
  return op;
}

MOKUME_ATTRIBUTES(kBiasActAttributes, mk_bias_act, MK_BIAS_ACT(MOKUME_ATTRIBUTE));

inline void check_activation(const char* name, Activation a, Activation last) {
  if (a < Activation::none || a > last)
    throw Error(MK_INVALID_ARGUMENT,
                std::string(name) + ": unknown activation " + std::to_string(static_cast<int64_t>(a)));
}

inline void check_activation_and_slope(const char* name, const mk_op& op) {
  check_activation(name, op.bias_act.activation, Activation::hard_swish);
  if (!std::isfinite(op.bias_act.slope) || op.bias_act.slope < 0)
    throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": the slope must be finite and not negative");
}

inline void check_bias_act(const mk_op& op) {
  check_activation_and_slope("bias_act", op);
  const mk_tensor& x = op.inputs[0];
  sdk::check_view("bias_act", "x", x, MK_F32);
  sdk::check_operand("bias_act", "out", op.outputs[0], x.rows, x.columns);
  if (op.n_inputs < 2) return;
  sdk::check_operand("bias_act", "bias", op.inputs[1], op.inputs[1].rows == x.rows ? x.rows : 1, x.columns);
}

inline void check_act_grad(const mk_op& op) {
  check_activation_and_slope("act_grad", op);
  const mk_tensor& grad = op.inputs[0];
  sdk::check_view("act_grad", "grad", grad, MK_F32);
  sdk::check_operand("act_grad", "y", op.inputs[1], grad.rows, grad.columns);
  sdk::check_operand("act_grad", "dx", op.outputs[0], grad.rows, grad.columns);
}

// The tolerance is relative to (|x| + |bias|) * max(1, slope), plus 1 for sigmoid and hard_sigmoid. It allows for one
// sum, and for a few units of 2^-24 of the function's largest possible value, because backends have their own exp, erf
// and tanh.
inline double tolerance_bias_act(const mk_op& op) {
  constexpr double kUnits[] = {1, 1, 3, 8, 8, 8, 8, 8, 4, 4};  // indexed by Activation
  return kUnits[static_cast<size_t>(op.bias_act.activation)] * 0x1p-24;
}

// The tolerance is relative to |grad| * max(1, slope). none and relu are exact on every device.
inline double tolerance_act_grad(const mk_op& op) {
  constexpr double kUnits[] = {0, 0, 2, 16, 32, 16, 4, 4, 2, 4};  // indexed by Activation
  return kUnits[static_cast<size_t>(op.bias_act.activation)] * 0x1p-24;
}

inline sdk::Cost cost_bias_act(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {(op.bias_act.activation > Activation::leaky_relu ? 30 : 2) * e, 8 * e};
}

inline sdk::Cost cost_act_grad(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {(takes_input(op.bias_act.activation) ? 40 : 1) * e, 12 * e};
}

// Returns the third input of a gradient that also passes through the relu that computed its x, or NULL.
inline const mk_tensor* relu_of_grad(const mk_op& op) { return op.n_inputs == 3 ? &op.inputs[2] : nullptr; }

inline double bytes_of_relu(const mk_op& op) {
  const mk_tensor* x = relu_of_grad(op);
  return x == nullptr ? 0.0 : 4.0 * static_cast<double>(x->rows) * static_cast<double>(x->columns);
}

inline void check_relu_of_grad(const char* name, const mk_op& op) {
  if (const mk_tensor* x = relu_of_grad(op))
    sdk::check_operand(name, "x", *x, op.outputs[0].rows, op.outputs[0].columns);
}

}  // namespace mokume::ops
