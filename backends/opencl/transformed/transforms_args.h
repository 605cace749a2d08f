// Defines the arguments of transforms.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// Element e of tile t and channel c of the pixels is at (e * tiles + t) * channels + c.
typedef struct {
  View images;
  i64 tiles;
  WindowSides sides;
} SpreadPixelsArgs;
ARGS(SpreadPixelsArgs)

// Element e of the weight of `terms` inputs and `lanes` outputs is at (e * terms + term) * lanes + lane. With `flip`,
// the weights are rotated by 180 degrees, and inputs and outputs are exchanged.
typedef struct {
  View weight;
  i32 terms, lanes, flip, reserved;
} SpreadWeightsArgs;
ARGS(SpreadWeightsArgs)

// `passed` is the output of a relu through which gradients pass, if `after_relu` is 1.
typedef struct {
  View out, passed;
  i64 tiles, bias_offset;
  WindowSides sides;
  i32 biased, relu, after_relu, reserved;
} GatherOutputsArgs;
ARGS(GatherOutputsArgs)

END_ARGS
