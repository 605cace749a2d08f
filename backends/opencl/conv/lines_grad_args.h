// Defines the arguments of lines_grad.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// A band has rows_each rows of windows of images_each neighbouring images, which are image_apart floats apart in the
// scratch. `sides` has the channels of a group. A work-item processes bands_each bands, and of each band units_each
// units: lines of the window, of pairs of vectors of filters, of groups.
typedef struct {
  View images, dy;
  i64 image_count, image_apart, bands, bands_each, part_each, scratch_each;
  WindowSides sides;
  i32 rows_each, bands_per_image, images_each, groups, units_each, reserved;
} LinesGradArgs;
ARGS(LinesGradArgs)

typedef struct {
  View dweight;
  i64 parts, part_each;
  i32 groups, columns;
} LinesSumArgs;
ARGS(LinesSumArgs)

END_ARGS
