// Defines the arguments of window.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

typedef struct {
  ImageGrid grid;
  View images, cells;
  WindowSides sides;
  i32 counts_padding, reserved;
} AvgWindowArgs;
ARGS(AvgWindowArgs)

END_ARGS
