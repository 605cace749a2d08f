// Defines the arguments of depthwise.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `per_channel` is the number of filters that read each channel of the image.
typedef struct {
  ImageGrid grid;
  View images, weight, windows;
  i64 bias_offset;
  WindowSides sides;
  i32 dilation_h, dilation_w, per_channel, biased, relu, reserved;
} DepthwiseArgs;
ARGS(DepthwiseArgs)

// A work-item sums the pixels of lines_each lines of windows.
typedef struct {
  View images, windows;
  i64 lines, lines_each, items;
  WindowSides sides;
  i32 dilation_h, dilation_w, per_channel, reserved;
} DepthwiseGradArgs;
ARGS(DepthwiseGradArgs)

END_ARGS
