// gather_pixels: out pixel (y, x) of an image = its pixel (row[y], column[x]), with all channels (f32). Models use this
// for padding, for example by reflection, and for resizing areas to one size.
//
//   inputs   x: N x (height * width * channels), row: vector of out_h (i32, every entry in [0, height)), column: vector
//            of out_w (i32, every entry in [0, width))
//   outputs  out: N x (out_h * out_w * channels); must not overlap x
//   attributes height, width, channels
//
// gather_pixels_grad: dx of a pixel = the sum of the gradients of the out pixels that show it (y, then x, ascending),
// starting from 0.
//
//   inputs   grad: as out above, row and column as above   outputs  dx: N x (height * width * channels)
//
// The host backend rejects an index out of its range with MK_INVALID_ARGUMENT. On other devices, such pixels of out are
// NaN, and their gradients are left out. No device reads outside x.
#pragma once

#include <algorithm>
#include <cmath>

#include "sdk/ops/window.hpp"

namespace mokume::ops {

struct PixelMap {
  int64_t height = 1, width = 1, channels = 1, out_h = 1, out_w = 1;

  int64_t image() const { return height * width * channels; }
  int64_t out_image() const { return out_h * out_w * channels; }
};

inline PixelMap pixel_map_of(const mk_op& op) {
  const mk_gather_pixels& a = op.gather_pixels;
  return {a.height, a.width, a.channels, op.inputs[1].columns, op.inputs[2].columns};
}

inline mk_op gather_pixels_op(mk_op_code code, const mk_tensor& in, const mk_tensor& row, const mk_tensor& column,
                              const PixelMap& map, const mk_tensor& out) {
  mk_op op = sdk::make_op(code, {in, row, column}, {out});
  op.gather_pixels = {map.height, map.width, map.channels};
  return op;
}

// The lengths of `row` and `column` define out_h and out_w.
inline mk_op gather_pixels(const mk_tensor& x, const mk_tensor& row, const mk_tensor& column, const PixelMap& map,
                           const mk_tensor& out) {
  return gather_pixels_op(MK_OP_GATHER_PIXELS, x, row, column, map, out);
}

inline mk_op gather_pixels_grad(const mk_tensor& grad, const mk_tensor& row, const mk_tensor& column,
                                const PixelMap& map, const mk_tensor& dx) {
  return gather_pixels_op(MK_OP_GATHER_PIXELS_GRAD, grad, row, column, map, dx);
}

MOKUME_ATTRIBUTES(kGatherPixelsAttributes, mk_gather_pixels, MK_GATHER_PIXELS(MOKUME_ATTRIBUTE));

inline PixelMap check_pixel_map(const char* name, const mk_op& op) {
  const PixelMap map = pixel_map_of(op);
  for (const int64_t side : {map.height, map.width, map.channels, map.out_h, map.out_w})
    if (side < 1 || side > kMaxSide)
      throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": a side of an image is not from 1 to 2^20");
  sdk::check_operand(name, "row", op.inputs[1], 1, map.out_h, MK_I32);
  sdk::check_operand(name, "column", op.inputs[2], 1, map.out_w, MK_I32);
  return map;
}

inline void check_gather_pixels(const mk_op& op) {
  const PixelMap map = check_pixel_map("gather_pixels", op);
  sdk::check_operand("gather_pixels", "x", op.inputs[0], op.inputs[0].rows, map.image());
  sdk::check_operand("gather_pixels", "out", op.outputs[0], op.inputs[0].rows, map.out_image());
}

inline void check_gather_pixels_grad(const mk_op& op) {
  const PixelMap map = check_pixel_map("gather_pixels_grad", op);
  sdk::check_operand("gather_pixels_grad", "grad", op.inputs[0], op.inputs[0].rows, map.out_image());
  sdk::check_operand("gather_pixels_grad", "dx", op.outputs[0], op.inputs[0].rows, map.image());
}

inline double tolerance_gather_pixels(const mk_op&) { return 0.0; }

// The tolerance is relative to the sum of the magnitudes of the terms; there may be as many terms as out pixels.
inline double tolerance_gather_pixels_grad(const mk_op& op) {
  const PixelMap map = pixel_map_of(op);
  return 4.0 * (std::sqrt(static_cast<double>(map.out_h * map.out_w)) + 4.0) * 0x1p-24;
}

inline sdk::Cost cost_gather_pixels(const mk_op& op) {
  const double e = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {0, 8 * e};
}

// Counts the comparisons of each pixel with all rows and, for the rows that show the pixel, with all columns.
inline sdk::Cost cost_gather_pixels_grad(const mk_op& op) {
  const PixelMap map = pixel_map_of(op);
  const double in = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  const double out = static_cast<double>(op.outputs[0].rows) * static_cast<double>(op.outputs[0].columns);
  return {out * static_cast<double>(map.out_h + map.out_w), 4 * (in + out)};
}

}  // namespace mokume::ops
