// Defines the arguments of column_sums.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

typedef struct {
  View x;
  i64 rows, rows_each;
  i32 columns, reserved;
} ColumnSumsArgs;
ARGS(ColumnSumsArgs)

typedef struct {
  View out;
  i64 parts, rows;
  i32 columns, fresh;
} SumPartsArgs;
ARGS(SumPartsArgs)

typedef struct {
  i64 blocks, out_offset;
  i32 columns, first;
} SumBlocksArgs;
ARGS(SumBlocksArgs)

END_ARGS
