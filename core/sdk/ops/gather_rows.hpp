// gather_rows: out row r = x row index[r] (f32).
//
//   inputs   x: M x K, index: vector of R (i32), every entry in [0, M)   outputs  out: R x K; must not overlap x
//
// The host backend rejects an index outside [0, M) with MK_INVALID_ARGUMENT. On other devices, such a row of out is
// NaN. No device reads outside x.
#pragma once

#include "sdk/tensor.hpp"

namespace mokume::ops {

inline mk_op gather_rows(const mk_tensor& x, const mk_tensor& index, const mk_tensor& out) {
  return sdk::make_op(MK_OP_GATHER_ROWS, {x, index}, {out});
}

inline void check_gather_rows(const mk_op& op) {
  sdk::check_view("gather_rows", "x", op.inputs[0], MK_F32);
  sdk::check_operand("gather_rows", "index", op.inputs[1], 1, op.outputs[0].rows, MK_I32);
  sdk::check_operand("gather_rows", "out", op.outputs[0], op.outputs[0].rows, op.inputs[0].columns);
}

inline double tolerance_gather_rows(const mk_op&) { return 0.0; }

inline sdk::Cost cost_gather_rows(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {0, 8 * e};
}

}  // namespace mokume::ops
