// Defines how a product is split into work-groups along its terms.
#pragma once

#include "gemm/product_args.h"

BEGIN_ARGS

// A launch sums the terms [first, product.k) in `blocks` of `block` terms. With `partial`, blocks store their sums for
// gemm_reduce. The `last` of several launches finishes the output with the bias and the activation.
typedef struct {
  i64 first, blocks;
  i32 blocks_each, partial, last, block;
} Split;

// The arguments of tile.cl.
typedef struct {
  Product product;
  Split split;
} GemmTileArgs;
ARGS(GemmTileArgs)

END_ARGS
