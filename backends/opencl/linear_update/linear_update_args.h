// Defines the arguments of the kernels of linear_update.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// If `first` is 1, there is no state yet; if `wanted` is 1, dx is requested; if `after_relu` is 1, a relu computed x,
// so dx passes where x > 0.
typedef struct {
  View x, dy, weight, state, dx;
  i64 rows, columns, rows_each;
  i32 batch, stateful, wanted, first, after_relu;
  f32 lr, decay, momentum;
} LinearUpdateArgs;
ARGS(LinearUpdateArgs)

typedef struct {
  View x;
  i64 columns, padded;
} PadRowsArgs;
ARGS(PadRowsArgs)

END_ARGS
