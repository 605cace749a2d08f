// The arguments of tile.cl.
#pragma once

#include "gemm/product_args.h"

BEGIN_ARGS

// With `partial`, blocks store their sums for gemm_reduce.
typedef struct {
  Product product;
  i64 blocks, blocks_each;
  i32 partial, reserved;
} GemmTileArgs;
ARGS(GemmTileArgs)

END_ARGS
