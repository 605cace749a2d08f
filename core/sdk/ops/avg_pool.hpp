// avg_pool: adaptive average pooling, PyTorch's AdaptiveAvgPool2d (f32).
//
//   inputs   x: N x (height * width * channels)   outputs  out: N x (out_h * out_w * channels); must not overlap x
//   integers [0] = height, [1] = width, [2] = channels, [3] = out_h, [4] = out_w
//
// out pixel (y, x) is the mean over rows [floor(y * height / out_h), ceil((y + 1) * height / out_h)) and columns
// likewise, summed row by row, then divided by the count. A NaN makes every out pixel whose area contains it a NaN. An
// infinity makes these pixels that infinity, and infinities of both signs make them NaN. Other out pixels and channels
// are not affected.
//
// avg_pool_grad: dx = for every pixel, the sum of gradient / count over the out pixels whose area contains it (y, then
// x, ascending). NaNs and infinities in the gradients spread in the same way to the pixels of their areas, and to no
// others.
//
//   inputs   grad: as out above   outputs  dx: N x (height * width * channels)
#pragma once

#include "sdk/ops/window.hpp"

namespace mokume::ops {

struct AvgPool {
  int64_t height = 1, width = 1, channels = 1, out_h = 1, out_w = 1;

  int64_t image() const { return height * width * channels; }
  int64_t out_image() const { return out_h * out_w * channels; }
};

// The pixels [begin, end) of a side of length `size` that cell `at` of `cells` averages.
constexpr int64_t avg_pool_begin(int64_t at, int64_t size, int64_t cells) { return at * size / cells; }
constexpr int64_t avg_pool_end(int64_t at, int64_t size, int64_t cells) {
  return ((at + 1) * size + cells - 1) / cells;
}

inline AvgPool avg_pool_of(const mk_op& op) {
  return {op.integers[0], op.integers[1], op.integers[2], op.integers[3], op.integers[4]};
}

inline mk_op avg_pool_op(mk_op_code code, const mk_tensor& in, const AvgPool& pool, const mk_tensor& out) {
  mk_op op = sdk::make_op(code);
  op.n_inputs = 1;
  op.n_outputs = 1;
  op.inputs[0] = in;
  op.outputs[0] = out;
  const int64_t all[] = {pool.height, pool.width, pool.channels, pool.out_h, pool.out_w};
  for (int i = 0; i < 5; ++i) op.integers[i] = all[i];
  return op;
}

inline mk_op avg_pool(const mk_tensor& x, const AvgPool& pool, const mk_tensor& out) {
  return avg_pool_op(MK_OP_AVG_POOL, x, pool, out);
}

inline mk_op avg_pool_grad(const mk_tensor& grad, const AvgPool& pool, const mk_tensor& dx) {
  return avg_pool_op(MK_OP_AVG_POOL_GRAD, grad, pool, dx);
}

inline void check_avg_pool_sides(const char* name, const mk_op& op) {
  for (int i = 0; i < 5; ++i)
    if (op.integers[i] < 1 || op.integers[i] > kMaxSide)
      throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": a side of an image is not from 1 to 2^20");
}

inline void check_avg_pool(const mk_op& op) {
  check_avg_pool_sides("avg_pool", op);
  sdk::check_view("avg_pool", "x", op.inputs[0], MK_F32);
  sdk::check_view("avg_pool", "out", op.outputs[0], MK_F32);
  sdk::check_shape("avg_pool", "x", op.inputs[0], op.inputs[0].rows, avg_pool_of(op).image());
  sdk::check_shape("avg_pool", "out", op.outputs[0], op.inputs[0].rows, avg_pool_of(op).out_image());
}

inline void check_avg_pool_grad(const mk_op& op) {
  check_avg_pool_sides("avg_pool_grad", op);
  sdk::check_view("avg_pool_grad", "grad", op.inputs[0], MK_F32);
  sdk::check_view("avg_pool_grad", "dx", op.outputs[0], MK_F32);
  sdk::check_shape("avg_pool_grad", "grad", op.inputs[0], op.inputs[0].rows, avg_pool_of(op).out_image());
  sdk::check_shape("avg_pool_grad", "dx", op.outputs[0], op.inputs[0].rows, avg_pool_of(op).image());
}

// Relative to the mean of the magnitudes.
inline double tolerance_avg_pool(const mk_op& op) {
  const AvgPool p = avg_pool_of(op);
  const int64_t h = p.height / p.out_h + 2, w = p.width / p.out_w + 2;
  return static_cast<double>(h * w + 2) * 0x1p-24;
}

// Relative to the sum of the magnitudes of the terms.
inline double tolerance_avg_pool_grad(const mk_op& op) {
  const AvgPool p = avg_pool_of(op);
  const int64_t h = p.out_h / p.height + 2, w = p.out_w / p.width + 2;
  return static_cast<double>(h * w + 2) * 0x1p-24;
}

inline sdk::Cost cost_avg_pool(const mk_op& op) {
  const double in = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  const double out = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {in + out, 4 * (in + out)};
}

inline sdk::Cost cost_avg_pool_grad(const mk_op& op) { return cost_avg_pool(op); }

}  // namespace mokume::ops
