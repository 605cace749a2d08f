// Defines the arguments of softmax.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `x` is the input of softmax, but its output for softmax_grad.
typedef struct {
  i64 rows, columns, rows_each;
  View x, grad, out;
} SoftmaxArgs;
ARGS(SoftmaxArgs)

END_ARGS
