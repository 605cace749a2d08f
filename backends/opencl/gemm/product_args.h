// The arguments common to the kernels of products.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// op(a) or the transpose of op(b): element (i, k) is at offset + i * row_step + k * k_step, and one of the steps is 1.
typedef struct {
  i64 offset, row_step, k_step;
} Operand;

// Element (i, j) is at offset + i * row_step + j * column_step.
typedef struct {
  i64 offset, row_step, column_step;
} Output;

// out = alpha * op(a) * op(b) + beta * out, m x n, over k terms. Kernels with an epilogue then add the bias of its
// column to each element and set negative values to 0.
typedef struct {
  Operand a, b;
  Output out;
  i64 m, n, k, bias_offset;
  f32 alpha, beta;
  i32 biased, relu;
} Product;

END_ARGS
