// Defines the arguments of vector.cl and skinny.cl for the host and the kernels.
#pragma once

#include "gemm/product_args.h"

BEGIN_ARGS

typedef struct {
  Operand x;
  i64 rows, k;
} PackArgs;
ARGS(PackArgs)

// `first` and `last` state whether the terms are the first and the last terms of the product.
typedef struct {
  Product product;
  i64 block_m, block_n;
  i32 first, last;
} GemmPackedArgs;
ARGS(GemmPackedArgs)

// A work-item processes rows_each rows or columns_each columns, and blocks_each blocks of terms. If `shared` is 1,
// work-items share the blocks and leave their sums for sum_of_blocks. If `turned` is 1, out is the transpose of the
// requested product, so the bias runs along its rows.
typedef struct {
  Product product;
  i64 rows_each, columns_each, blocks_each;
  i32 shared, turned;
} SkinnyArgs;
ARGS(SkinnyArgs)

typedef struct {
  Product product;
  i64 blocks, columns_each;
} SumOfBlocksArgs;
ARGS(SumOfBlocksArgs)

END_ARGS
