// What every kernel of a product is told.
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

// out = alpha * op(a) * op(b) + beta * out, m x n, over k terms; then, by the kernels that do so, the bias of its
// column is added to each element, and what is negative becomes 0.
typedef struct {
  Operand a, b;
  Output out;
  i64 m, n, k, bias_offset;
  f32 alpha, beta;
  i32 biased, relu;
} Product;

END_ARGS
