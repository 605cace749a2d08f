// The arguments of pool.cl.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `places` records the place of each maximum in its window.
typedef struct {
  ImageGrid grid;
  View images, windows, places;
  WindowSides sides;
} MaxPoolArgs;
ARGS(MaxPoolArgs)

// `cells` are the averages of areas.
typedef struct {
  ImageGrid grid;
  View images, cells;
  i32 height, width, channels, out_h, out_w, reserved;
} AvgPoolArgs;
ARGS(AvgPoolArgs)

END_ARGS
