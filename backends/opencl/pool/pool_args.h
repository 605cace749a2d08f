// Defines the arguments of pool.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `places` holds the place of each maximum in its window. If `after_relu` is 1, gradients pass through a relu with the
// output x.
typedef struct {
  ImageGrid grid;
  View images, windows, places, x;
  WindowSides sides;
  i32 after_relu, reserved;
} MaxPoolArgs;
ARGS(MaxPoolArgs)

// `cells` holds the averages of areas.
typedef struct {
  ImageGrid grid;
  View images, cells;
  i32 height, width, channels, out_h, out_w, reserved;
} AvgPoolArgs;
ARGS(AvgPoolArgs)

END_ARGS
