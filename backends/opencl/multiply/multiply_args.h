// Defines the arguments of multiply.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// The grid covers x. Each row of the factor serves `pixels` rows of x.
typedef struct {
  RunGrid grid;
  View x, factor, out;
  i64 pixels;
} MultiplyArgs;
ARGS(MultiplyArgs)

// The grid covers the gradient of the factor.
typedef struct {
  RunGrid grid;
  View grad, x, out;
  i64 pixels;
} FactorGradArgs;
ARGS(FactorGradArgs)

END_ARGS
