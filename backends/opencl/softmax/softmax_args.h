// The arguments of softmax.cl.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `x` is the input, or the output if the gradient is taken there.
typedef struct {
  i64 rows, columns, rows_each;
  View x, grad, out;
} SoftmaxArgs;
ARGS(SoftmaxArgs)

END_ARGS
