// The arguments of vector.cl and skinny.cl.
#pragma once

#include "gemm/product_args.h"

BEGIN_ARGS

typedef struct {
  Operand x;
  i64 rows, k;
} PackArgs;
ARGS(PackArgs)

// `first` and `last`: these are the first terms of the product, the last ones.
typedef struct {
  Product product;
  i64 block_m, block_n;
  i32 first, last;
} GemmPackedArgs;
ARGS(GemmPackedArgs)

// A work-item does rows_each rows or columns_each columns, and blocks_each blocks of terms. `shared`: the blocks are
// shared by work-items, which leave their sums for sum_of_blocks. `turned`: out is the transpose of what was asked for,
// so that the bias goes along its rows.
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
