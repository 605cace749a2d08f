// Defines the arguments of planes.cl for the host and the kernels.
#pragma once

#include "gemm/tile_args.h"

BEGIN_ARGS

// Consecutive planes of the operands and the output are this far apart.
typedef struct {
  Product product;
  Split split;
  i64 a_apart, b_apart, out_apart;
} PlanesArgs;
ARGS(PlanesArgs)

END_ARGS
