// Defines the arguments of direct.cl, flat.cl, direct_grad.cl and spread.cl for the host and the kernels.
//
// `pixel_step` is always 1, but it is an argument so that the compiler cannot rely on its value. Otherwise, the
// compiler would keep values that neighbouring pixels share in registers, and no register is free.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// Only conv2d_flat uses the last two sizes.
typedef struct {
  View images, weight, out;
  i64 bias_offset, scratch_each, rows, rows_each;
  WindowSides sides;
  i32 biased, relu, pixel_step, most_windows, lines_at_once, reserved;
} ConvDirectArgs;
ARGS(ConvDirectArgs)

typedef struct {
  View images;
  i32 height, width, pad_h, pad_w;
} PadImagesArgs;
ARGS(PadImagesArgs)

// A piece has pixels_each of the `pixels` of all images. Unless `fresh`, the sums of pieces are added to what dweight
// holds.
typedef struct {
  View dy, dweight;
  i64 dbias_offset, pixels, pixels_each, scratch_each;
  i32 lines, line, kernel_h, kernel_w, out_w, out_pixels, out_channels, wanted, lines_each, pixel_step, fresh, reserved;
} ConvDirectGradArgs;
ARGS(ConvDirectGradArgs)

typedef struct {
  View images, dy, dweight;
  i64 dbias_offset, pixels, pixels_each, image_floats, padded_floats, scratch_each;
  WindowSides sides;
  i32 out_pixels, wanted, bands_each, ring, pixel_step, fresh;
} ConvSpreadArgs;
ARGS(ConvSpreadArgs)

END_ARGS
