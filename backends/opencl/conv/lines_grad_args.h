// Defines the arguments of lines_grad.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// A piece has rows_each of the `rows` rows of windows of all images. It is a sequence of bands: at most band_rows rows
// of an image, or at most images_each whole images, which are image_apart floats apart in the scratch. `sides` has the
// channels of a group. A work-item processes units_each units of a piece: lines of the window, of pairs of vectors of
// filters, of groups.
typedef struct {
  View images, dy;
  i64 rows, rows_each, image_apart, part_each, scratch_each;
  WindowSides sides;
  i32 band_rows, images_each, groups, units_each;
} LinesGradArgs;
ARGS(LinesGradArgs)

// Unless `fresh`, the parts are added to what dweight holds.
typedef struct {
  View dweight;
  i64 parts, part_each;
  i32 groups, columns, fresh, reserved;
} LinesSumArgs;
ARGS(LinesSumArgs)

END_ARGS
