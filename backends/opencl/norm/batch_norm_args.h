// Defines the arguments of batch_norm.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// Divides one or two matrices into blocks of rows_each rows. A work-item processes blocks_each blocks.
typedef struct {
  View x, dy;
  i64 rows, rows_each, blocks, blocks_each, moments_offset, moments_step;
  i32 columns, relu;
} NormBlocksArgs;
ARGS(NormBlocksArgs)

// `count` blocks of rows_each rows, the last of which may be shorter, become groups of `fan` blocks.
typedef struct {
  i64 rows, rows_each, count, fan;
  i32 columns, reserved;
} NormMergeArgs;
ARGS(NormMergeArgs)

typedef struct {
  i64 rows, rows_each, count, weight_offset, bias_offset, moments_offset, moments_step;
  i32 columns;
  f32 eps;
} NormMomentsArgs;
ARGS(NormMomentsArgs)

typedef struct {
  i64 weight_offset, bias_offset, mean_offset, variance_offset;
  i32 columns;
  f32 eps;
} NormGivenArgs;
ARGS(NormGivenArgs)

typedef struct {
  i64 rows, count, moments_offset, moments_step, dweight_offset, dbias_offset;
  View running, drunning;  // only if `runs`
  i32 columns, runs;
  f32 share, reserved;
} NormCoefficientsArgs;
ARGS(NormCoefficientsArgs)

typedef struct {
  RunGrid grid;
  View x, y;
  i64 scale_offset, shift_offset;
  i32 relu, reserved;
} NormApplyArgs;
ARGS(NormApplyArgs)

typedef struct {
  RunGrid grid;
  View dy, x, dx;
  i64 moments_offset, moments_step;
  i32 relu, reserved;
} NormGradArgs;
ARGS(NormGradArgs)

END_ARGS
