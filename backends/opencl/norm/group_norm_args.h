// Defines the arguments of group_norm.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// Describes rows of `pixels` x `channels` elements, of which `each` channels form a group. Only gradients use dy.
typedef struct {
  View x, dy, moments;
  i64 rows, pixels, weight_offset, bias_offset;
  i32 channels, groups, each;
  f32 eps;
} GroupNormArgs;
ARGS(GroupNormArgs)

typedef struct {
  i64 rows, dweight_offset, dbias_offset;
  View moments;
  i32 channels, groups, each, reserved;
} GroupColumnsArgs;
ARGS(GroupColumnsArgs)

// A line is one pixel of one row; `pixels` lines share the coefficients of a row.
typedef struct {
  RunGrid grid;
  View x, dy, out;
  i64 pixels;
} GroupApplyArgs;
ARGS(GroupApplyArgs)

END_ARGS
