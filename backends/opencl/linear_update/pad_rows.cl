// Copies x into rows of `padded` floats, with zeros after the end. One work-item copies one row.
#include "common/common.cl"
#include "linear_update/linear_update_args.h"

__kernel ONE_ITEM void pad_rows(ITEM const PadRowsArgs args, __global const float* restrict x,
                                __global float* restrict out) {
  const long r = get_global_id(0);
  for (long c = 0; c < args.padded; ++c)
    out[r * args.padded + c] = c < args.columns ? x[args.x.offset + r * args.x.step + c] : 0.0f;
}
