// Defines the arguments of lines_grad.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// A band has rows_each rows of windows of one image. A work-item processes bands_each bands.
typedef struct {
  View images, dy;
  i64 bands, bands_each, part_each, scratch_each;
  WindowSides sides;
  i32 rows_each, bands_per_image;
} LinesGradArgs;
ARGS(LinesGradArgs)

typedef struct {
  View dweight;
  i64 parts, part_each;
  i32 rows, columns;
} LinesSumArgs;
ARGS(LinesSumArgs)

END_ARGS
