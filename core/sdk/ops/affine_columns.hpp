// affine_columns: out[r][c] = (x[r][c] - shift[c]) * scale[c] (f32). Normalises inputs and propagates gradients back.
//
//   inputs   x: M x K, scale: vector of K, shift: vector of K (n_inputs is 2 without it)
//   outputs  out: M x K; may be the same view as x
#pragma once

#include "sdk/tensor.hpp"

namespace mokume::ops {

// There is no shift if shift.buffer == NULL.
inline mk_op affine_columns(const mk_tensor& x, const mk_tensor& scale, const mk_tensor& shift, const mk_tensor& out) {
  mk_op op = sdk::make_op(MK_OP_AFFINE_COLUMNS, {x, scale}, {out});
  if (shift.buffer != nullptr) op.inputs[op.n_inputs++] = shift;
  return op;
}

inline void check_affine_columns(const mk_op& op) {
  const mk_tensor& x = op.inputs[0];
  sdk::check_view("affine_columns", "x", x, MK_F32);
  sdk::check_operand("affine_columns", "scale", op.inputs[1], 1, x.columns);
  sdk::check_operand("affine_columns", "out", op.outputs[0], x.rows, x.columns);
  if (op.n_inputs < 3) return;
  sdk::check_operand("affine_columns", "shift", op.inputs[2], 1, x.columns);
}

// The tolerance is relative to (|x| + |shift|) * |scale|, for one difference and one product.
inline double tolerance_affine_columns(const mk_op&) { return 2.0 * 0x1p-24; }

inline sdk::Cost cost_affine_columns(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {2 * e, 8 * e};
}

}  // namespace mokume::ops
