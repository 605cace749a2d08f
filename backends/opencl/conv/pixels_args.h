// Defines the arguments of pixels.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// The grid's rows are rows of windows of all images from first_row on. `each` is the number of channels per pixel of a
// patch; `sides.channels` is the number per pixel of the image.
typedef struct {
  ImageGrid grid;
  View images, patches;
  i64 first_row;
  WindowSides sides;
  i32 dilation_h, dilation_w, each, reserved;
} PixelsArgs;
ARGS(PixelsArgs)

// A phase (phases.hpp): `rows` rows of pixels per image that begin at first_h, step_h apart, and columns likewise.
typedef struct {
  ImageGrid grid;
  View images, pixels;
  i64 first_row;
  i32 height, width, channels, rows, columns, first_h, first_w, step_h, step_w, reserved;
} PlacePixelsArgs;
ARGS(PlacePixelsArgs)

END_ARGS
