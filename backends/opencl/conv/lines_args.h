// The arguments of lines.cl.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// A band is rows_each rows of windows of one image. A work-item does bands_each bands.
typedef struct {
  View images, weight, out;
  i64 bias_offset, bands, bands_each, scratch_each;
  WindowSides sides;
  i32 rows_each, bands_per_image, biased, relu;
} LinesArgs;
ARGS(LinesArgs)

typedef struct {
  View weight;
  i32 kernel_h, kernel_w, channels, out_channels;
} TurnWeightsArgs;
ARGS(TurnWeightsArgs)

END_ARGS
