// Defines the arguments of elementwise.cl, layers.cl and activations.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

typedef struct {
  RunGrid grid;
  View out;
  f32 value;
  i32 reserved;
} FillArgs;
ARGS(FillArgs)

typedef struct {
  RunGrid grid;
  View dot, out;
  i64 norm_x_offset, norm_y_offset;
  i32 kind, degree;
  f32 gamma, coef0;
} KernelMapArgs;
ARGS(KernelMapArgs)

typedef struct {
  RunGrid grid;
  View x, out;
  i64 x_rows, index_offset;
} GatherRowsArgs;
ARGS(GatherRowsArgs)

typedef struct {
  RunGrid grid;
  View x, out, bias;
  i32 biased, relu;
} BiasActArgs;
ARGS(BiasActArgs)

typedef struct {
  RunGrid grid;
  View grad, y, dx;
  i32 relu, reserved;
} ActGradArgs;
ARGS(ActGradArgs)

typedef struct {
  RunGrid grid;
  View x, out, bias;
  i32 biased, kind;
  f32 slope;
  i32 reserved;
} ActivateArgs;
ARGS(ActivateArgs)

typedef struct {
  RunGrid grid;
  View grad, y, dx;
  i32 kind;
  f32 slope;
} ActivationGradArgs;
ARGS(ActivationGradArgs)

typedef struct {
  RunGrid grid;
  View x, out;
  i64 scale_offset, shift_offset;
  i32 shifted, reserved;
} AffineColumnsArgs;
ARGS(AffineColumnsArgs)

typedef struct {
  RunGrid grid;
  View x, out;
  u32 threshold;
  f32 scale;
  u32 key0, key1, layer, step, first_row, reserved;
} DropoutArgs;
ARGS(DropoutArgs)

END_ARGS
