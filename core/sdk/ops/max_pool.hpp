// max_pool: the largest element in each window, per channel (f32), and its place in the window (i32).
//
//   inputs   x: N x image   outputs  out: N x (out_pixels * channels), place: the same shape, i32; none overlaps x
//   attributes the window: see window.hpp; neither dilated nor in groups
//
// place = i * kernel_w + j of the first largest pixel of the window (i, then j, ascending). The op never chooses
// padding. A NaN counts as larger than any number, and the op chooses the first NaN.
//
// max_pool_grad: dx of a pixel = the sum of the gradients of the windows that chose it, added in the order of the
// window's pixels (i, then j, ascending), starting from 0. A NaN or an infinity in the gradients affects only the pixel
// that its window chose; infinities of both signs at one pixel make a NaN.
//
//   inputs   grad, place: as out and place above; x: N x image, optional: the output of a relu
//   outputs  dx: N x image, which is 0 where x is given and not above 0
#pragma once

#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::ops {

inline mk_op max_pool(const mk_tensor& x, const Window& window, const mk_tensor& out, const mk_tensor& place) {
  mk_op op = sdk::make_op(MK_OP_MAX_POOL, {x}, {out, place});
  op.max_pool = window;
  return op;
}

inline mk_op max_pool_grad(const mk_tensor& grad, const mk_tensor& place, const Window& window, const mk_tensor& dx,
                           const mk_tensor& x = {}) {
  mk_op op = sdk::make_op(MK_OP_MAX_POOL_GRAD, {grad, place}, {dx});
  if (x.buffer != nullptr) op.inputs[op.n_inputs++] = x;
  op.max_pool = window;
  return op;
}

MOKUME_ATTRIBUTES(kMaxPoolAttributes, mk_window, MK_WINDOW(MOKUME_ATTRIBUTE));

// Calls check_window, and checks that the window suits a pool and that a place in it fits an i32.
inline Window check_pool_window(const char* name, const mk_op& op) {
  const Window w = check_window(name, op.max_pool);
  if (w.dilated() || w.groups != 1)
    throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": the window of a pool has no dilation and no groups");
  if (w.kernel_h * w.kernel_w > INT32_MAX)
    throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": the window has 2^31 pixels or more");
  return w;
}

inline void check_max_pool(const mk_op& op) {
  const Window w = check_pool_window("max_pool", op);
  const int64_t n = op.inputs[0].rows;
  sdk::check_operand("max_pool", "x", op.inputs[0], n, w.image());
  sdk::check_operand("max_pool", "out", op.outputs[0], n, w.out_pixels() * w.channels);
  sdk::check_operand("max_pool", "place", op.outputs[1], n, w.out_pixels() * w.channels, MK_I32);
}

inline void check_max_pool_grad(const mk_op& op) {
  const Window w = check_pool_window("max_pool_grad", op);
  const int64_t n = op.inputs[0].rows;
  sdk::check_operand("max_pool_grad", "grad", op.inputs[0], n, w.out_pixels() * w.channels);
  sdk::check_operand("max_pool_grad", "place", op.inputs[1], n, w.out_pixels() * w.channels, MK_I32);
  sdk::check_operand("max_pool_grad", "dx", op.outputs[0], n, w.image());
  check_relu_of_grad("max_pool_grad", op);
}

inline double tolerance_max_pool(const mk_op&) { return 0.0; }

// The tolerance is relative to the sum of the magnitudes of the terms.
inline double tolerance_max_pool_grad(const mk_op& op) {
  const Window w = window_of(op.max_pool);
  return static_cast<double>(w.kernel_h * w.kernel_w) * 0x1p-24;
}

inline sdk::Cost cost_max_pool(const mk_op& op) {
  const Window w = window_of(op.max_pool);
  const double out = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  const double in = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {out * static_cast<double>(w.kernel_h * w.kernel_w), 8 * out + 4 * in};
}

inline sdk::Cost cost_max_pool_grad(const mk_op& op) {
  const double in = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  const double out = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {in, 8 * in + 4 * out + bytes_of_relu(op)};
}

}  // namespace mokume::ops
