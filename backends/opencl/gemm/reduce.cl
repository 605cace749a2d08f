#include "common/common.cl"
#include "gemm/tile_args.h"

#define AT_ONCE 32  // loads that are under way at the same time

// Adds the block sums of a partial gemm_tile to the output in order.
__kernel void gemm_reduce(ITEM const GemmTileArgs args, __global const float* partial, __global const float* bias,
                          __global float* out) {
  const Product p = args.product;
  const long n = get_global_id(0);
  if (n >= p.n) return;
  for (long m = get_global_id(1); m < p.m; m += get_global_size(1)) {
    __global float* at = out + p.out.offset + m * p.out.row_step + n;
    __global const float* from = partial + m * p.n + n;
    const long apart = p.m * p.n;
    float value = p.beta == 0.0f ? p.alpha * *from : fma(p.alpha, *from, p.beta * *at);
    long block = 1;
    for (from += apart; block + AT_ONCE <= args.split.blocks; block += AT_ONCE) {
      float some[AT_ONCE];
      UNROLL
      for (int i = 0; i < AT_ONCE; ++i, from += apart) some[i] = *from;
      UNROLL
      for (int i = 0; i < AT_ONCE; ++i) value = fma(p.alpha, some[i], value);
    }
    for (; block < args.split.blocks; ++block, from += apart) value = fma(p.alpha, *from, value);
    if (args.split.last) {
      if (p.biased) value += bias[p.bias_offset + n];
      if (p.relu == RELU && value < 0.0f) value = 0.0f;
      if (p.relu == RELU_GRAD && !(bias[p.bias_offset + m * p.out.row_step + n] > 0.0f)) value = 0.0f;
    }
    *at = value;
  }
}
