// Defines the arguments of lrn.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `share` is alpha / size. An element has the neighbours from `before` places before it to `after` places after it.
typedef struct {
  RunGrid grid;
  View grad, x, out;
  i32 before, after;
  f32 share, beta, bias;
  i32 reserved;
} LrnArgs;
ARGS(LrnArgs)

END_ARGS
