// Defines the arguments of augment.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// A random word below flip_x, flip_y or erase causes the change. per_pixel is 1 / pixels; per_channel is 1 / channels.
typedef struct {
  ImageGrid grid;
  View x, out;
  i64 x_rows, index_offset, first_row;
  i64 flip_x, flip_y, erase;
  u32 key0, key1, step;
  i32 height, width, channels, shift, erased;
  f32 radians, brightness, contrast, saturation, hue, per_pixel, per_channel;
  i32 reserved;
} AugmentArgs;
ARGS(AugmentArgs)

END_ARGS
