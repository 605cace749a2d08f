// Defines the arguments of turn.cl for the host and the kernel.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// The pixels of the window are first_h + step_h * i and first_w + step_w * j, from the last of `taps` to the first.
typedef struct {
  View weight;
  i64 turned_offset;
  i32 kernel_w, channels, out_channels, step_h, step_w, first_h, first_w, taps_h, taps_w, groups;
} TurnWeightsArgs;
ARGS(TurnWeightsArgs)

END_ARGS
