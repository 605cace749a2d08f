// The arguments of pixels.cl.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `each` is the number of channels of a patch's pixels, of which `sides.channels` counts those of the image's.
typedef struct {
  ImageGrid grid;
  View images, patches;
  WindowSides sides;
  i32 dilation_h, dilation_w, each, reserved;
} PixelsArgs;
ARGS(PixelsArgs)

END_ARGS
