// Defines the arguments of winograd.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

typedef struct {
  View weight;
  i32 terms, lanes, flip, reserved;
} WinogradWeightsArgs;
ARGS(WinogradWeightsArgs)

typedef struct {
  View images, out;
  i64 bias_offset, tiles, tiles_each;
  WindowSides sides;
  i32 biased, relu, panels_each, reserved;
} WinogradConvArgs;
ARGS(WinogradConvArgs)

typedef struct {
  View images, grads;
  i64 grads_at, first, most;
  WindowSides sides;
} WinogradTransformArgs;
ARGS(WinogradTransformArgs)

typedef struct {
  i64 grads_at, most;
  i32 channels, out_channels, count, rows_each, first, reserved;
} WinogradSumArgs;
ARGS(WinogradSumArgs)

typedef struct {
  View out;
  i32 channels, out_channels;
} WinogradWeightGradsArgs;
ARGS(WinogradWeightGradsArgs)

END_ARGS
