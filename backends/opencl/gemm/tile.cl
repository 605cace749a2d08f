// Computes GEMM on GPUs: see product.cl and operand.cl for A_ALONG_K, A_WIDE, B_ALONG_K and B_WIDE. With OUT_WIDE, the rows
// of the output and the bias consist of whole, aligned vectors of four.
#include "gemm/operand.cl"
#include "gemm/tile_args.h"

#define ARGS GemmTileArgs

#include "gemm/matrices.cl"
#include "gemm/product_sum.cl"

__kernel GROUP_OF(GX, GY) void gemm_tile(ITEM const GemmTileArgs args, __global const float* a, __global const float* b,
                                         __global const float* bias, __global float* out, __local float4* quads) {
  sum_tile(THIS_ITEM args, a, b, bias, out, quads);
}
