// Defines the arguments of optimizer.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// Each kernel reads the fields of its optimizer. The host computes everything that depends only on the settings:
// differences such as 1 - a, step_size = lr / (1 - a^t), to_root = 1 / sqrt(1 - b^t), and shrink = 1 - lr *
// weight_decay for adamw (else 1). `clip` is 0 without a limit.
typedef struct {
  RunGrid grid;
  i64 grad_offset, norm2_offset, weight_offset, state_offset, state2_offset, state3_offset;
  f32 lr, decay, a, one_minus_a, b, one_minus_b, eps, step_size, to_root, shrink, clip;
  i32 first, nesterov, reserved;
} OptimizerArgs;
ARGS(OptimizerArgs)

END_ARGS
