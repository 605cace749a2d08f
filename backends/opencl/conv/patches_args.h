// Defines the arguments of patches.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

typedef struct {
  ImageGrid grid;
  View images, patches;
  WindowSides sides;
} PatchesArgs;
ARGS(PatchesArgs)

END_ARGS
