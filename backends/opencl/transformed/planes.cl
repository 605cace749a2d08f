// Multiplies many pairs of matrices of the same shapes, one pair for each group in the third dimension (product.cl).
#include "gemm/operand.cl"
#include "transformed/planes_args.h"

#define ARGS PlanesArgs
#define FIRST_BLOCK 0

#include "gemm/matrices.cl"
#include "gemm/product_sum.cl"

__kernel GROUP_OF(GX, GY) void multiply_planes(ITEM const PlanesArgs args, __global const float* a,
                                               __global const float* b, __global float* out, __local float4* quads) {
  const long plane = (long)get_global_id(2);
  sum_tile(THIS_ITEM args, a + plane * args.a_apart, b + plane * args.b_apart, a, out + plane * args.out_apart, quads);
}
