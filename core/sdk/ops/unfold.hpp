// unfold: the patches under a sliding window (im2col), exact copies (f32).
//
//   inputs   x: N x image   outputs  out: (N * out_pixels) x patch; must not overlap x
//   integers the window, see window.hpp
//
// Row n * out_pixels + y * out_width + x of out holds window (y, x) of image n: element
// (i * kernel_w + j) * channels + c is pixel (i, j) of the window, channel c; 0 in the padding.
#pragma once

#include "sdk/ops/window.hpp"

namespace mokume::ops {

inline mk_op unfold(const mk_tensor& x, const Window& window, const mk_tensor& out) {
  mk_op op = sdk::make_op(MK_OP_UNFOLD);
  op.n_inputs = 1;
  op.n_outputs = 1;
  op.inputs[0] = x;
  op.outputs[0] = out;
  set_window(op, window);
  return op;
}

inline void check_unfold(const mk_op& op) {
  const Window w = check_window("unfold", op);
  sdk::check_view("unfold", "x", op.inputs[0], MK_F32);
  sdk::check_view("unfold", "out", op.outputs[0], MK_F32);
  sdk::check_shape("unfold", "x", op.inputs[0], op.inputs[0].rows, w.image());
  sdk::check_shape("unfold", "out", op.outputs[0], all_windows("unfold", w, op.inputs[0].rows), w.patch());
}

// Exact on every device.
inline double tolerance_unfold(const mk_op&) { return 0.0; }

inline sdk::Cost cost_unfold(const mk_op& op) {
  const double out = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {0, 4 * out + 4 * static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns)};
}

}  // namespace mokume::ops
