// The arguments of implicit.cl.
#pragma once

#include "gemm/tile_args.h"

BEGIN_ARGS

// `sides` are those of all channels. A group of filters sees `group_channels` of them, and has `group_filters` filters.
// Consecutive images of the operand that windows slide over are `image_step` elements apart.
typedef struct {
  Product product;
  Split split;
  i64 image_step;
  WindowSides sides;
  i32 dilation_h, dilation_w, group_channels, group_filters;
} ImplicitArgs;
ARGS(ImplicitArgs)

END_ARGS
