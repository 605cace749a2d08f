// fold: patches added up into images, the transpose of unfold (col2im) (f32).
//
//   inputs   patches: (N * out_pixels) x patch   outputs  out: N x image; must not overlap patches
//   integers the window, see window.hpp
//
// Every element of out is the sum of the patch elements that unfold would copy it to, added in the order of the
// window's pixels (i, then j, ascending), starting from 0. Padding is left out.
#pragma once

#include "sdk/ops/window.hpp"

namespace mokume::ops {

inline mk_op fold(const mk_tensor& patches, const Window& window, const mk_tensor& out) {
  mk_op op = sdk::make_op(MK_OP_FOLD);
  op.n_inputs = 1;
  op.n_outputs = 1;
  op.inputs[0] = patches;
  op.outputs[0] = out;
  set_window(op, window);
  return op;
}

inline void check_fold(const mk_op& op) {
  const Window w = check_window("fold", op);
  sdk::check_view("fold", "patches", op.inputs[0], MK_F32);
  sdk::check_view("fold", "out", op.outputs[0], MK_F32);
  sdk::check_shape("fold", "out", op.outputs[0], op.outputs[0].rows, w.image());
  sdk::check_shape("fold", "patches", op.inputs[0], all_windows("fold", w, op.outputs[0].rows), w.patch());
}

// Relative to the sum of the magnitudes added.
inline double tolerance_fold(const mk_op& op) {
  const Window w = window_of(op);
  return static_cast<double>(w.kernel_h * w.kernel_w) * 0x1p-24;
}

inline sdk::Cost cost_fold(const mk_op& op) {
  const double in = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {in, 4 * in + 4 * static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns)};
}

}  // namespace mokume::ops
