// The arguments of the kernels of linear_update.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `first`: there is no state yet. `wanted`: dx is requested. `after_relu`: a relu computed x, so dx passes where x > 0.
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
