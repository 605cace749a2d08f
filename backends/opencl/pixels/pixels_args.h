// Defines the arguments of pixels.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// The images have height x width pixels, and the output has out_h x out_w pixels.
typedef struct {
  ImageGrid grid;
  View images, shown;
  i64 row_offset, column_offset;
  i32 height, width, channels, out_h, out_w, reserved;
} PixelArgs;
ARGS(PixelArgs)

END_ARGS
