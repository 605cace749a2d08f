// avg_pool: average pooling (f32) over the areas of a grid (PyTorch's AdaptiveAvgPool2d) or a window (AvgPool2d).
//
//   inputs   x: N x (height * width * channels)   outputs  out: N x (out_h * out_w * channels); must not overlap x
//   attributes height, width, channels, out_h, out_w; kernel_h and kernel_w, both 0 for a grid; stride_h, stride_w,
//            pad_h, pad_w; counts_padding: 1 if the padding counts as pixels of value 0
//
// For a grid, out pixel (y, x) is the mean over rows [floor(y * height / out_h), ceil((y + 1) * height / out_h)) and
// the corresponding columns. For a window, it is the mean over the pixels of the image in rows
// [y * stride_h - pad_h, y * stride_h - pad_h + kernel_h) and the corresponding columns. The op sums pixels row by row,
// then divides by the count: the number of pixels in the image or, if the padding counts, in the image with pad_h rows
// and pad_w columns around it. Every window begins before the image ends; the last window may reach beyond the padding
// (PyTorch's ceil_mode). A NaN makes every out pixel whose area contains it NaN. An infinity makes these pixels that
// infinity, and infinities of both signs make them NaN. Other out pixels and channels are not affected.
//
// avg_pool_grad: dx of a pixel = the sum of gradient / count over the out pixels whose areas contain it (y, then x,
// ascending). NaNs and infinities in the gradients likewise affect only the pixels of their areas.
//
//   inputs   grad: as out above   outputs  dx: N x (height * width * channels)
#pragma once

#include <algorithm>

#include "sdk/ops/window.hpp"

namespace mokume::ops {

struct AvgPool {
  MK_AVG_POOL(MOKUME_FIELD)

  operator mk_avg_pool() const { return std::bit_cast<mk_avg_pool>(*this); }
  int64_t image() const { return height * width * channels; }
  int64_t out_image() const { return out_h * out_w * channels; }
};

// Return the bounds [begin, end) of the pixels that cell `at` of `cells` averages along a side of `size` pixels.
constexpr int64_t avg_pool_begin(int64_t at, int64_t size, int64_t cells) { return at * size / cells; }
constexpr int64_t avg_pool_end(int64_t at, int64_t size, int64_t cells) {
  return ((at + 1) * size + cells - 1) / cells;
}

struct AvgSide {
  int64_t size, cells, kernel, stride, pad;
  bool counts_padding;

  // Return the bounds [begin, end) of the pixels that cell `at` sums, and the factor of this side in the divisor.
  int64_t begin(int64_t at) const {
    return kernel == 0 ? avg_pool_begin(at, size, cells) : std::max<int64_t>(at * stride - pad, 0);
  }
  int64_t end(int64_t at) const {
    return kernel == 0 ? avg_pool_end(at, size, cells) : std::min(at * stride - pad + kernel, size);
  }
  int64_t count(int64_t at) const {
    if (kernel == 0 || !counts_padding) return end(at) - begin(at);
    return std::min(kernel, size + 2 * pad - at * stride);
  }
};

inline AvgSide down(const AvgPool& p) {
  return {p.height, p.out_h, p.kernel_h, p.stride_h, p.pad_h, p.counts_padding != 0};
}
inline AvgSide across(const AvgPool& p) {
  return {p.width, p.out_w, p.kernel_w, p.stride_w, p.pad_w, p.counts_padding != 0};
}

inline AvgPool avg_pool_of(const mk_op& op) { return std::bit_cast<AvgPool>(op.avg_pool); }

inline mk_op avg_pool_op(mk_op_code code, const mk_tensor& in, const AvgPool& pool, const mk_tensor& out) {
  mk_op op = sdk::make_op(code, {in}, {out});
  op.avg_pool = pool;
  return op;
}

inline mk_op avg_pool(const mk_tensor& x, const AvgPool& pool, const mk_tensor& out) {
  return avg_pool_op(MK_OP_AVG_POOL, x, pool, out);
}

inline mk_op avg_pool_grad(const mk_tensor& grad, const AvgPool& pool, const mk_tensor& dx) {
  return avg_pool_op(MK_OP_AVG_POOL_GRAD, grad, pool, dx);
}

MOKUME_ATTRIBUTES(kAvgPoolAttributes, mk_avg_pool, MK_AVG_POOL(MOKUME_ATTRIBUTE));

inline void check_avg_pool_sides(const char* name, const mk_op& op) {
  const auto refuse = [&](const std::string& why) { throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": " + why); };
  const AvgPool p = avg_pool_of(op);
  for (const int64_t side : {p.height, p.width, p.channels, p.out_h, p.out_w})
    if (side < 1 || side > kMaxSide) refuse("a side of an image is not from 1 to 2^20");
  if (p.kernel_h == 0 && p.kernel_w == 0) return;
  for (const int64_t side : {p.kernel_h, p.kernel_w, p.stride_h, p.stride_w})
    if (side < 1 || side > kMaxSide) refuse("a side of the window is not from 1 to 2^20");
  if (p.pad_h < 0 || p.pad_w < 0 || p.pad_h >= p.kernel_h || p.pad_w >= p.kernel_w)
    refuse("the padding must be at least 0 and smaller than the window");
  if ((p.out_h - 1) * p.stride_h - p.pad_h >= p.height || (p.out_w - 1) * p.stride_w - p.pad_w >= p.width)
    refuse("the last window lies in the padding");
  if (p.counts_padding != 0 && p.counts_padding != 1) refuse("counts_padding must be 0 or 1");
}

inline void check_avg_pool(const mk_op& op) {
  check_avg_pool_sides("avg_pool", op);
  sdk::check_operand("avg_pool", "x", op.inputs[0], op.inputs[0].rows, avg_pool_of(op).image());
  sdk::check_operand("avg_pool", "out", op.outputs[0], op.inputs[0].rows, avg_pool_of(op).out_image());
}

inline void check_avg_pool_grad(const mk_op& op) {
  check_avg_pool_sides("avg_pool_grad", op);
  sdk::check_operand("avg_pool_grad", "grad", op.inputs[0], op.inputs[0].rows, avg_pool_of(op).out_image());
  sdk::check_operand("avg_pool_grad", "dx", op.outputs[0], op.inputs[0].rows, avg_pool_of(op).image());
}

// The tolerance is relative to the mean of the magnitudes.
inline double tolerance_avg_pool(const mk_op& op) {
  const AvgPool p = avg_pool_of(op);
  const bool window = p.kernel_h != 0;
  const int64_t h = window ? p.kernel_h : p.height / p.out_h + 2, w = window ? p.kernel_w : p.width / p.out_w + 2;
  return static_cast<double>(h * w + 2) * 0x1p-24;
}

// The tolerance is relative to the sum of the magnitudes of the terms.
inline double tolerance_avg_pool_grad(const mk_op& op) {
  const AvgPool p = avg_pool_of(op);
  const bool window = p.kernel_h != 0;
  const int64_t h = (window ? p.kernel_h / p.stride_h : p.out_h / p.height) + 2;
  const int64_t w = (window ? p.kernel_w / p.stride_w : p.out_w / p.width) + 2;
  return static_cast<double>(h * w + 2) * 0x1p-24;
}

inline sdk::Cost cost_avg_pool(const mk_op& op) {
  const double in = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  const double out = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {in + out, 4 * (in + out)};
}

inline sdk::Cost cost_avg_pool_grad(const mk_op& op) { return cost_avg_pool(op); }

}  // namespace mokume::ops
