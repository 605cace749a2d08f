// fill: out[r][c] = value (f32).   attributes: value
#pragma once

#include "sdk/tensor.hpp"

namespace mokume::ops {

inline mk_op fill(const mk_tensor& out, float value) {
  mk_op op = sdk::make_op(MK_OP_FILL, {}, {out});
  op.fill.value = value;
  return op;
}

MOKUME_ATTRIBUTES(kFillAttributes, mk_fill, MK_FILL(MOKUME_ATTRIBUTE));

inline void check_fill(const mk_op& op) { sdk::check_view("fill", "out", op.outputs[0], MK_F32); }

inline double tolerance_fill(const mk_op&) { return 0.0; }

inline sdk::Cost cost_fill(const mk_op& op) {
  return {0, 4.0 * static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns)};
}

}  // namespace mokume::ops
