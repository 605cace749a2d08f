// The arguments of optimizer.cl.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// Each kernel reads the fields of its optimizer. The host computes everything that depends only on the settings: 1 - a
// and the like, step_size = lr / (1 - a^t), to_root = 1 / sqrt(1 - b^t).
typedef struct {
  RunGrid grid;
  i64 grad_offset, weight_offset, state_offset, state2_offset;
  f32 lr, decay, a, one_minus_a, b, one_minus_b, eps, step_size, to_root;
  i32 first;
} OptimizerArgs;
ARGS(OptimizerArgs)

END_ARGS
