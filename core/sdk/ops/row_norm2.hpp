// row_norm2: out[r] = sum over c of x[r][c]^2 (f32).   inputs x: M x K   outputs out: vector of M (1 x M).
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

inline mk_op row_norm2(const mk_tensor& x, const mk_tensor& out) { return sdk::make_op(MK_OP_ROW_NORM2, {x}, {out}); }

inline void check_row_norm2(const mk_op& op) {
  sdk::check_view("row_norm2", "x", op.inputs[0], MK_F32);
  sdk::check_operand("row_norm2", "out", op.outputs[0], 1, op.inputs[0].rows);
}

// The tolerance is relative to the sum itself, because all terms are positive.
inline double tolerance_row_norm2(const mk_op& op) {
  return 4.0 * (std::sqrt(static_cast<double>(op.inputs[0].columns)) + 4.0) * 0x1p-24;
}

inline sdk::Cost cost_row_norm2(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {2 * e, 4 * e + 4 * static_cast<double>(op.inputs[0].rows)};
}

}  // namespace mokume::ops
