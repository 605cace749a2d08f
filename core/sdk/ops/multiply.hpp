// multiply: out[r][c] = x[r][c] * factor[r / P][c] with P = M / N, so that N images of P pixels each get one factor for
// each channel (f32).
//
//   inputs   x: M x K, factor: N x K, where N divides M   outputs  out: M x K; may be the same view as x
//
// multiply_grad_factor: dfactor[n][c] = sum of grad[r][c] * x[r][c] over the rows r from n P to n P + P - 1.
//
//   inputs   grad: M x K, x: M x K   outputs  dfactor: N x K, where N divides M; must not overlap
//
// The gradient with respect to x is multiply(grad, factor).
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

inline mk_op multiply(const mk_tensor& x, const mk_tensor& factor, const mk_tensor& out) {
  return sdk::make_op(MK_OP_MULTIPLY, {x, factor}, {out});
}

inline mk_op multiply_grad_factor(const mk_tensor& grad, const mk_tensor& x, const mk_tensor& dfactor) {
  return sdk::make_op(MK_OP_MULTIPLY_GRAD_FACTOR, {grad, x}, {dfactor});
}

// Returns the number of rows for each factor.
inline int64_t pixels_each(const mk_tensor& x, const mk_tensor& factor) {
  return factor.rows == 0 ? 0 : x.rows / factor.rows;
}

inline void check_factor(const char* op, const char* name, const mk_tensor& x, const mk_tensor& factor) {
  sdk::check_operand(op, name, factor, factor.rows, x.columns);
  if (factor.rows * pixels_each(x, factor) != x.rows)
    throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": the " + std::to_string(factor.rows) + " rows of " + name +
                                         " do not divide the " + std::to_string(x.rows) + " rows of x");
}

inline void check_multiply(const mk_op& op) {
  const mk_tensor& x = op.inputs[0];
  sdk::check_view("multiply", "x", x, MK_F32);
  check_factor("multiply", "factor", x, op.inputs[1]);
  sdk::check_operand("multiply", "out", op.outputs[0], x.rows, x.columns);
}

inline void check_multiply_grad_factor(const mk_op& op) {
  const mk_tensor& grad = op.inputs[0];
  sdk::check_view("multiply_grad_factor", "grad", grad, MK_F32);
  sdk::check_operand("multiply_grad_factor", "x", op.inputs[1], grad.rows, grad.columns);
  check_factor("multiply_grad_factor", "dfactor", grad, op.outputs[0]);
}

// The tolerance is relative to |x| * |factor|, for one product.
inline double tolerance_multiply(const mk_op&) { return 0x1p-24; }

// The tolerance is relative to the sum of |grad| * |x|. A sum of P terms has the error of gemm.hpp.
inline double tolerance_multiply_grad_factor(const mk_op& op) {
  return 4.0 * (std::sqrt(static_cast<double>(pixels_each(op.inputs[0], op.outputs[0]))) + 4.0) * 0x1p-24;
}

inline sdk::Cost cost_multiply(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {e, 8 * e};
}

inline sdk::Cost cost_multiply_grad_factor(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {2 * e, 8 * e};
}

}  // namespace mokume::ops
