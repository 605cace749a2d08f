// Defines the arguments that all kernels of products take.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// Describes op(a) or the transpose of op(b). Element (i, k) is at offset + i * row_step + k * k_step; one step is 1.
typedef struct {
  i64 offset, row_step, k_step;
} Operand;

// Element (i, j) is at offset + i * row_step + j * column_step.
typedef struct {
  i64 offset, row_step, column_step;
} Output;

// Describes the m x n product out = alpha * op(a) * op(b) + beta * out over k terms. Kernels with an epilogue then add
// each column's bias if `biased` is 1. With RELU, they set negative values to 0; with RELU_GRAD, those for which the
// element of another matrix, which takes the place of the biases and lies like `out`, is not above 0.
#define RELU 1
#define RELU_GRAD 2
typedef struct {
  Operand a, b;
  Output out;
  i64 m, n, k, bias_offset;
  f32 alpha, beta;
  i32 biased, relu;
} Product;

END_ARGS
