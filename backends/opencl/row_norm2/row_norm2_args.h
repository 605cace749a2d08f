// Defines the arguments of row_norm2.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

typedef struct {
  View x;
  i64 rows, columns, out_offset, rows_each;
} RowNorm2Args;
ARGS(RowNorm2Args)

END_ARGS
