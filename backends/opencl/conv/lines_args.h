// Defines the arguments of lines.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// A band has rows_each rows of windows of one group of channels in images_each neighbouring images, in lines of `line`
// floats. `sides` has the channels of a group. A work-item
// processes bands_each bands. Windows of the output are out_step floats apart, and rows of windows are out_line floats
// apart.
typedef struct {
  View images, weight, out;
  i64 bias_offset, image_count, image_apart, bands, bands_each, scratch_each, out_step, out_line;
  WindowSides sides;
  i32 rows_each, bands_per_image, images_each, groups, line, biased, relu, reserved;
} LinesArgs;
ARGS(LinesArgs)

END_ARGS
