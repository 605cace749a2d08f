// softmax: out[r][c] = exp(x[r][c] - m) / sum of exp(x[r][k] - m) over k, where m is the largest x of row r (f32).
//
//   inputs   x: M x K   outputs  out: M x K; may be the same view as x
//
// A row that contains a NaN, or whose largest element is infinite, is NaN throughout. In other rows, -inf gives 0.
//
// softmax_grad: dx[r][c] = y[r][c] * (grad[r][c] - sum of grad[r][k] * y[r][k] over k), where y is softmax's output.
//
//   inputs   grad: M x K, y: M x K   outputs  dx: M x K; may be the same view as grad
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

inline mk_op softmax(const mk_tensor& x, const mk_tensor& out) { return sdk::make_op(MK_OP_SOFTMAX, {x}, {out}); }

inline mk_op softmax_grad(const mk_tensor& grad, const mk_tensor& y, const mk_tensor& dx) {
  return sdk::make_op(MK_OP_SOFTMAX_GRAD, {grad, y}, {dx});
}

inline void check_softmax(const mk_op& op) {
  const mk_tensor& x = op.inputs[0];
  sdk::check_view("softmax", "x", x, MK_F32);
  sdk::check_operand("softmax", "out", op.outputs[0], x.rows, x.columns);
}

inline void check_softmax_grad(const mk_op& op) {
  const mk_tensor& grad = op.inputs[0];
  sdk::check_view("softmax_grad", "grad", grad, MK_F32);
  sdk::check_operand("softmax_grad", "y", op.inputs[1], grad.rows, grad.columns);
  sdk::check_operand("softmax_grad", "dx", op.outputs[0], grad.rows, grad.columns);
}

// The tolerance is absolute. Rounding the argument of exp changes a probability p by at most p * |log p| * 2^-24, and a
// sum of K terms has the error of gemm.hpp.
inline double tolerance_softmax(const mk_op& op) {
  return 4.0 * (std::sqrt(static_cast<double>(op.inputs[0].columns)) + 4.0) * 0x1p-24;
}

// The tolerance is relative to |y| * (|grad| + sum of |grad| * |y|).
inline double tolerance_softmax_grad(const mk_op& op) {
  return 4.0 * (std::sqrt(static_cast<double>(op.inputs[0].columns)) + 4.0) * 0x1p-24;
}

inline sdk::Cost cost_softmax(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {25 * e, 8 * e};
}

inline sdk::Cost cost_softmax_grad(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {4 * e, 12 * e};
}

}  // namespace mokume::ops
