// Defines the arguments of tile.cl for the host and the kernels.
#pragma once

#include "gemm/product_args.h"

BEGIN_ARGS

// If `partial` is 1, blocks store their sums for gemm_reduce.
typedef struct {
  Product product;
  i64 blocks;
  i32 blocks_each, partial, last, reserved;
} GemmTileArgs;
ARGS(GemmTileArgs)

END_ARGS
