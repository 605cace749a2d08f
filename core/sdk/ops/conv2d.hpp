// conv2d: y = activation(x * weight + bias), a convolution as in neural networks (f32).
//
//   inputs   x: N x image    weight: patch x C    bias: vector of C (n_inputs is 2 without it)
//   outputs  y: N x (out_pixels * C)
//   attributes window: see window.hpp; activation: none or relu
//
//   y[n](p, c) = activation(bias[c] + sum over e of patch e of window p of image n * weight(e, c)); the padding is 0
//
// With G groups, column c belongs to group c / (C / G), and its patches hold only the channels of that group: element
// (i * kernel_w + j) * (channels / G) + k of a patch is channel k of the group in window pixel (i, j). G divides C.
//
// conv2d_grad_input: dx, the gradient of x, from dy, the gradient of y before the activation.
//
//   inputs   dy: N x (out_pixels * C)    weight: patch x C    x: N x image, optional: the output of a relu
//   outputs  dx: N x image, which is 0 where x is given and not above 0
//
// conv2d_grad_weight: dweight and dbias, the gradients of weight and bias, summed over all images.
//
//   inputs   x: N x image    dy: N x (out_pixels * C)
//   outputs  dweight: patch x C    dbias: vector of C (n_outputs is 1 without it)
//
// The result for an image depends only on that image and the weights: not on N, nor on its place among the images
// (except with a matrix multiplication library that chooses its kernel by size: CLBlast, or oneDNN on the host
// backend). For weight gradients, the device class fixes the pieces of the sums over images, depending on whether the
// rows of dy are contiguous. A device may multiply in a transformed space (Winograd's minimal filtering). The error is
// then bounded by the sum of magnitudes in the whole 6 x 6 tile, not in one window, and an infinity or a NaN may reach
// all outputs of its tiles. relu of a NaN is NaN.
#pragma once

#include <algorithm>
#include <cmath>

#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::ops {

// There is no bias if bias.buffer == NULL.
inline mk_op conv2d(const mk_tensor& x, const mk_tensor& weight, const mk_tensor& bias, const Window& window,
                    Activation activation, const mk_tensor& y) {
  mk_op op = sdk::make_op(MK_OP_CONV2D, {x, weight}, {y});
  if (bias.buffer != nullptr) op.inputs[op.n_inputs++] = bias;
  op.conv2d = {window, activation};
  return op;
}

inline mk_op conv2d_grad_input(const mk_tensor& dy, const mk_tensor& weight, const Window& window, const mk_tensor& dx,
                               const mk_tensor& x = {}) {
  mk_op op = sdk::make_op(MK_OP_CONV2D_GRAD_INPUT, {dy, weight}, {dx});
  if (x.buffer != nullptr) op.inputs[op.n_inputs++] = x;
  op.conv2d.window = window;
  return op;
}

// There is no dbias if dbias.buffer == NULL.
inline mk_op conv2d_grad_weight(const mk_tensor& x, const mk_tensor& dy, const Window& window, const mk_tensor& dweight,
                                const mk_tensor& dbias) {
  mk_op op = sdk::make_op(MK_OP_CONV2D_GRAD_WEIGHT, {x, dy}, {dweight});
  if (dbias.buffer != nullptr) op.outputs[op.n_outputs++] = dbias;
  op.conv2d.window = window;
  return op;
}

// Divides the rows of windows of all images, image after image, into pieces of `rows_each` rows, of which the last may
// have fewer. conv2d_grad_weight sums each piece in one chain of fma() in the order of the windows, and adds the sums
// of the pieces in order, beginning with the first. If the rows of dy are not contiguous, every image is a piece.
//
// A piece has at least 256 windows, so that its sums cost little, and there are at most 64 pieces, which fit into 64
// MiB.
struct GradientPieces {
  int64_t rows_each, count;
};
inline GradientPieces gradient_pieces(const Window& w, int64_t images, int64_t filters) {
  constexpr int64_t kWindows = 256, kMost = 64, kFloats = int64_t{1} << 24;
  const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t rows = std::max<int64_t>(images * w.out_height(), 1);
  const int64_t most = std::clamp<int64_t>(kFloats / std::max<int64_t>(w.patch() * filters, 1), 1, kMost);
  const int64_t each = std::min(rows, std::max(up(kWindows, w.out_width()), up(rows, most)));
  return {each, up(rows, each)};
}

MOKUME_ATTRIBUTES(kConv2dAttributes, mk_conv2d, MK_CONV2D(MOKUME_ATTRIBUTE, MOKUME_PART));

namespace detail {

inline void check_convolution(const char* name, const mk_op& op, const mk_tensor& images, const mk_tensor& weight,
                              const mk_tensor& windows) {
  const Window w = check_window(name, op.conv2d.window);
  sdk::check_operand(name, "images", images, images.rows, w.image());
  sdk::check_operand(name, "weight", weight, w.patch(), weight.columns);
  all_windows(name, w, images.rows);
  if (weight.columns % w.groups != 0)
    throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": the groups do not divide the channels of the output");
  if (weight.columns > kMaxSide) throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": more than 2^20 channels");
  sdk::check_operand(name, "windows", windows, images.rows, w.out_pixels() * weight.columns);
}

inline void check_per_channel(const char* name, const char* what, const mk_tensor& vector, const mk_tensor& weight) {
  sdk::check_operand(name, what, vector, 1, weight.columns);
}

inline sdk::Cost cost_of_convolution(const mk_op& op, const mk_tensor& images, const mk_tensor& weight) {
  const Window w = window_of(op.conv2d.window);
  const double n = static_cast<double>(images.rows), c = static_cast<double>(weight.columns);
  const double windows = n * static_cast<double>(w.out_pixels()), patch = static_cast<double>(w.patch());
  return {2 * windows * patch * c, 4 * (n * static_cast<double>(w.image()) + windows * c + patch * c)};
}

}  // namespace detail

inline void check_conv2d(const mk_op& op) {
  detail::check_convolution("conv2d", op, op.inputs[0], op.inputs[1], op.outputs[0]);
  check_activation("conv2d", op.conv2d.activation, Activation::relu);
  if (op.n_inputs == 3) detail::check_per_channel("conv2d", "bias", op.inputs[2], op.inputs[1]);
}

inline void check_conv2d_grad_input(const mk_op& op) {
  detail::check_convolution("conv2d_grad_input", op, op.outputs[0], op.inputs[1], op.inputs[0]);
  check_relu_of_grad("conv2d_grad_input", op);
}

inline void check_conv2d_grad_weight(const mk_op& op) {
  detail::check_convolution("conv2d_grad_weight", op, op.inputs[0], op.outputs[0], op.inputs[1]);
  if (op.n_outputs == 2) detail::check_per_channel("conv2d_grad_weight", "dbias", op.outputs[1], op.outputs[0]);
}

// The tolerance is relative to the result of the same op on absolute values: the largest such result within the 6 x 6
// pixels around an element (among all elements, for dweight). The bound is sqrt(terms) as for gemm, times 8 for a
// transformed space. In that space, with 64 channels, the measured error in units of 2^-24 of the magnitudes is at most
// 6 and 1.0 on average, compared with 2.7 and 0.4 for sums without a transform.
inline double tolerance_conv2d(const mk_op& op) {
  return 8.0 * (std::sqrt(static_cast<double>(window_of(op.conv2d.window).patch())) + 4.0) * 0x1p-24;
}

inline double tolerance_conv2d_grad_input(const mk_op& op) {
  const Window w = window_of(op.conv2d.window);
  const double terms =
      static_cast<double>(w.kernel_h * w.kernel_w) * static_cast<double>(op.inputs[1].columns / w.groups);
  return 8.0 * (std::sqrt(terms) + 4.0) * 0x1p-24;
}

inline double tolerance_conv2d_grad_weight(const mk_op& op) {
  const double terms =
      static_cast<double>(op.inputs[0].rows) * static_cast<double>(window_of(op.conv2d.window).out_pixels());
  return 8.0 * (std::sqrt(terms) + 4.0) * 0x1p-24;
}

// Counts the operations of the definition, whatever algorithm a device uses.
inline sdk::Cost cost_conv2d(const mk_op& op) { return detail::cost_of_convolution(op, op.inputs[0], op.inputs[1]); }

inline sdk::Cost cost_conv2d_grad_input(const mk_op& op) {
  sdk::Cost cost = detail::cost_of_convolution(op, op.outputs[0], op.inputs[1]);
  cost.bytes += bytes_of_relu(op);
  return cost;
}

inline sdk::Cost cost_conv2d_grad_weight(const mk_op& op) {
  return detail::cost_of_convolution(op, op.inputs[0], op.outputs[0]);
}

}  // namespace mokume::ops
