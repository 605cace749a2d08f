// Looks up vectors by the codes in x, and sums their gradients (sdk/ops/embedding.hpp). Sums follow the order of rows.
#include "common/divide.cl"
#include "common/runs.cl"
#include "embedding/embedding_args.h"

// The grid has a row for each element of x, and a column for each number of its vector.
__kernel void embedding(ITEM const EmbeddingArgs args, __global const float* x, __global const float* table,
                        __global float* out) {
  FOR_EACH_LINE {
    const long row = divide(r, args.inputs), input = r - row * args.inputs;
    const float code = x[args.x.offset + row * args.x.step + input];
    const bool known = code >= 0.0f && code < (float)args.codes && code == floor(code);
    const long vector = input * args.codes + (known ? (long)code : 0);
    __global const float* from = table + args.table.offset + vector * args.table.step;
    __global float* to = out + args.vectors.offset + row * args.vectors.step + input * args.grid.columns;
    for (long c = c0; c < c1; c += VW) store_some(known ? load_some(from + c, RUN) : SPLAT(NAN), to + c, RUN);
  }
}

// The grid covers the gradient of the table.
__kernel void embedding_grad(ITEM const EmbeddingArgs args, __global const float* x, __global const float* grad,
                             __global float* out) {
  FOR_EACH_RUN {
    const long input = divide(r, args.codes);
    const float code = (float)(r - input * args.codes);
    __global const float* at = x + args.x.offset + input;
    __global const float* from = grad + args.vectors.offset + input * args.grid.columns + c;
    vec sum = SPLAT(0.0f);
    for (long row = 0; row < args.rows; ++row)
      if (at[row * args.x.step] == code) sum += load_some(from + row * args.vectors.step, RUN);
    store_some(sum, out + args.table.offset + r * args.table.step + c, RUN);
  }
}
