// Defines the arguments of embedding.cl for the host and the kernels.
#pragma once

#include "common/args.h"

BEGIN_ARGS

// `vectors` is the matrix with a vector for each element of x. `inputs` is the number of columns of x, and `codes` the
// number of vectors in a column's table.
typedef struct {
  RunGrid grid;
  View x, table, vectors;
  i64 rows, inputs, codes;
} EmbeddingArgs;
ARGS(EmbeddingArgs)

END_ARGS
