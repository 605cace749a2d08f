// Defines the arguments of patches.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// The grid's rows are rows of windows of all images from first_row on.
typedef struct {
  ImageGrid grid;
  View images, patches;
  i64 first_row;
  WindowSides sides;
} PatchesArgs;
ARGS(PatchesArgs)

END_ARGS
