// Defines the arguments of pixels.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `each` is the number of channels per pixel of a patch; `sides.channels` is the number per pixel of the image.
typedef struct {
  ImageGrid grid;
  View images, patches;
  WindowSides sides;
  i32 dilation_h, dilation_w, each, reserved;
} PixelsArgs;
ARGS(PixelsArgs)

END_ARGS
