// Defines the arguments of optimizer.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// Each kernel reads the fields of its optimizer. formulas/step_numbers.hpp sets the numbers from lr on.
typedef struct {
  RunGrid grid;
  i64 grad_offset, norm2_offset, weight_offset, state_offset, state2_offset, state3_offset;
  f32 lr, decay, a, one_minus_a, b, one_minus_b, eps, step_size, to_root, shrink, clip;
  i32 first, nesterov, reserved;
} OptimizerArgs;
ARGS(OptimizerArgs)

END_ARGS
