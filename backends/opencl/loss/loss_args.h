// Defines the arguments of loss.cl and general.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

typedef struct {
  i64 rows, columns, rows_each;
  View x, out, grad;
  i64 label_offset, labels, index_offset;
  i32 wanted;
  f32 scale;
} SoftmaxLossArgs;
ARGS(SoftmaxLossArgs)

// `mean` is 1 / columns, and `factor` is 2 * scale / columns.
typedef struct {
  i64 rows, columns, rows_each;
  View x, target, out, grad;
  i64 target_rows, index_offset;
  i32 wanted, reserved;
  f32 mean, factor;
} SquaredLossArgs;
ARGS(SquaredLossArgs)

// `per_column` is 1 / columns.
typedef struct {
  i64 rows, columns, rows_each;
  View x, out, grad;
  i64 label_offset, labels, index_offset, weight_offset;
  i32 wanted, weighted;
  f32 scale, smoothing, gamma, per_column;
} GeneralSoftmaxArgs;
ARGS(GeneralSoftmaxArgs)

// `per_column` is 1 / columns, and `scale` is already divided by the number of columns.
typedef struct {
  i64 rows, columns, rows_each;
  View x, target, out, grad;
  i64 target_rows, index_offset, weight_offset;
  i32 wanted, weighted, distance;
  f32 scale, delta, per_column;
} DistanceLossArgs;
ARGS(DistanceLossArgs)

END_ARGS
