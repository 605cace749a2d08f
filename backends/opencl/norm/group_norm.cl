// Computes group normalisation (sdk/ops/group_norm.hpp). Every work-item has its own sums, so the bits do not depend on
// the division of rows and groups.
#include "common/divide.cl"
#include "common/exact.cl"
#include "common/runs.cl"
#include "norm/group_norm_args.h"

// Requires VW <= channels. A work-item processes VW channels of one row. The last vector starts early.
#define ROW_AND_CHANNELS                                                             \
  const long vectors = (args.channels + VW - 1) / VW, item = (long)get_global_id(0); \
  const long r = divide(item, vectors);                                              \
  const int c = (int)min((item - r * vectors) * VW, (long)args.channels - VW);       \
  if (r >= args.rows) return;

#define ROW_AND_GROUP                                                               \
  const long r = divide((long)get_global_id(0), args.groups);                       \
  const int group = (int)((long)get_global_id(0) - r * args.groups);                \
  if (r >= args.rows) return;

// Loads 16 of `count` floats from c on. Those that do not exist are zeros.
static float16 load_lanes(__global const float* p, int c, int count) {
  if (c + 16 <= count) return vload16(0, p + c);
  float some[16];
  UNROLL
  for (int j = 0; j < 16; ++j) some[j] = c + j < count ? p[c + j] : 0.0f;
  return vload16(0, some);
}

// Adds 16 lanes, of which lane j is a sum over the channels j, j + 16, ...
static float sum_of_lanes(float16 lanes) {
  const float8 h8 = lanes.lo + lanes.hi;
  const float4 h4 = h8.lo + h8.hi;
  const float2 h2 = h4.lo + h4.hi;
  return h2.x + h2.y;
}

// Writes each channel's mean in a row, and the sum of squared differences from it. `part` has two lines for each row.
__kernel void group_parts(ITEM const GroupNormArgs args, __global const float* x, __global float* part) {
  ROW_AND_CHANNELS
  __global const float* from = x + args.x.offset + r * args.x.step + c;
  vec mean = SPLAT(0.0f), squares = SPLAT(0.0f);
  for (long p = 0; p < args.pixels; ++p) mean += VLOAD(0, from + p * args.channels);
  mean = QUOTIENT(mean, SPLAT((float)args.pixels));
  for (long p = 0; p < args.pixels; ++p) {
    const vec d = VLOAD(0, from + p * args.channels) - mean;
    squares = fma(d, d, squares);
  }
  VSTORE(mean, 0, part + 2 * r * args.channels + c);
  VSTORE(squares, 0, part + (2 * r + 1) * args.channels + c);
}

// Reads the parts or, if images have one pixel, x.
__kernel void group_moments(ITEM const GroupNormArgs args, __global const float* x, __global const float* part,
                            __global float* moments) {
  ROW_AND_GROUP
  const bool direct = args.pixels == 1;
  __global const float* means = (direct ? x + args.x.offset + r * args.x.step : part + 2 * r * args.channels) +
                                group * args.each;
  __global const float* squares = part + (2 * r + 1) * args.channels + group * args.each;
  const float terms = (float)(args.pixels * args.each);
  float16 sum = (float16)(0.0f);
  for (int c = 0; c < args.each; c += 16) sum += load_lanes(means, c, args.each);
  const float mean = QUOTIENT(sum_of_lanes(sum), (float)args.each);
  sum = (float16)(0.0f);
  for (int c = 0; c < args.each; c += 16) {
    const int16 channel = c + (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const float16 d = channel < args.each ? load_lanes(means, c, args.each) - mean : 0.0f;
    sum = fma(d * (float)args.pixels, d, sum);
    if (!direct) sum += load_lanes(squares, c, args.each);
  }
  moments += args.moments.offset + r * args.moments.step;
  moments[group] = mean;
  moments[args.groups + group] = QUOTIENT(1.0f, ROOT(QUOTIENT(sum_of_lanes(sum), terms) + args.eps));
}

// Writes the scale and the shift of each channel of a row.
__kernel void group_scales(ITEM const GroupNormArgs args, __global const float* moments, __global const float* weight,
                           __global const float* bias, __global float* to) {
  const long r = divide((long)get_global_id(0), args.channels);
  const int c = (int)((long)get_global_id(0) - r * args.channels), group = c / args.each;
  if (r >= args.rows) return;
  moments += args.moments.offset + r * args.moments.step;
  const float scale = weight[args.weight_offset + c] * moments[args.groups + group];
  to[2 * r * args.channels + c] = scale;
  to[(2 * r + 1) * args.channels + c] = bias[args.bias_offset + c] - moments[group] * scale;
}

__kernel void group_apply(ITEM const GroupApplyArgs args, __global const float* x, __global const float* scales,
                          __global float* y) {
  FOR_EACH_LINE {
    const long row = divide(r, args.pixels), pixel = (r - row * args.pixels) * args.grid.columns;
    __global const float* from = x + args.x.offset + row * args.x.step + pixel;
    __global float* to = y + args.out.offset + row * args.out.step + pixel;
    __global const float* scale = scales + 2 * row * args.grid.columns;
    __global const float* shift = scale + args.grid.columns;
    long c = c0;
    for (; c + VW <= c1; c += VW) VSTORE(fma(VLOAD(0, from + c), VLOAD(0, scale + c), VLOAD(0, shift + c)), 0, to + c);
    for (; c < c1; ++c) to[c] = fma(from[c], scale[c], shift[c]);
  }
}

// Writes the sums of dy and of dy * (x - mean) for each channel of a row. `part` has two lines for each row.
__kernel void group_products(ITEM const GroupNormArgs args, __global const float* dy, __global const float* x,
                             __global const float* moments, __global float* part) {
  ROW_AND_CHANNELS
  __global const float* from = x + args.x.offset + r * args.x.step + c;
  __global const float* grad = dy + args.dy.offset + r * args.dy.step + c;
  moments += args.moments.offset + r * args.moments.step;
  float means[VW];
  for (int i = 0; i < VW; ++i) means[i] = moments[(c + i) / args.each];
  const vec mean = VLOAD(0, means);
  vec sum = SPLAT(0.0f), product = SPLAT(0.0f);
  for (long p = 0; p < args.pixels; ++p) {
    const vec g = VLOAD(0, grad + p * args.channels);
    sum += g;
    product = fma(g, VLOAD(0, from + p * args.channels) - mean, product);
  }
  VSTORE(sum, 0, part + 2 * r * args.channels + c);
  VSTORE(product, 0, part + (2 * r + 1) * args.channels + c);
}

// Writes a, b and c of dx = a * dy + b * x + c for each channel of a group of a row. `to` has three lines for each row.
__kernel void group_coefficients(ITEM const GroupNormArgs args, __global const float* part,
                                 __global const float* moments, __global const float* weight, __global float* to) {
  ROW_AND_GROUP
  moments += args.moments.offset + r * args.moments.step;
  weight += args.weight_offset + group * args.each;
  part += 2 * r * args.channels + group * args.each;
  to += 3 * r * args.channels + group * args.each;
  const float mean = moments[group], inverse = moments[args.groups + group];
  const float terms = (float)(args.pixels * args.each);
  float16 sums = (float16)(0.0f), products = (float16)(0.0f);
  for (int c = 0; c < args.each; c += 16) {
    const float16 w = load_lanes(weight, c, args.each);
    sums = fma(w, load_lanes(part, c, args.each), sums);
    products = fma(w, load_lanes(part + args.channels, c, args.each), products);
  }
  const float sum = sum_of_lanes(sums), product = sum_of_lanes(products);
  const float b = -QUOTIENT(product * inverse, terms) * inverse * inverse, added = -QUOTIENT(sum, terms) * inverse - b * mean;
  for (int c = 0; c < args.each; ++c) {
    to[c] = weight[c] * inverse;
    to[args.channels + c] = b;
    to[2 * args.channels + c] = added;
  }
}

__kernel void group_columns(ITEM const GroupColumnsArgs args, __global const float* part, __global const float* moments,
                            __global float* dweight, __global float* dbias) {
  const int c = (int)get_global_id(0), group = c / args.each;
  if (c >= args.channels) return;
  float sum = 0.0f, product = 0.0f;
  for (long r = 0; r < args.rows; ++r) {
    sum += part[2 * r * args.channels + c];
    product = fma(part[(2 * r + 1) * args.channels + c],
                  moments[args.moments.offset + r * args.moments.step + args.groups + group], product);
  }
  dweight[args.dweight_offset + c] = product;
  dbias[args.dbias_offset + c] = sum;
}

__kernel void group_grad(ITEM const GroupApplyArgs args, __global const float* dy, __global const float* x,
                         __global const float* coefficients, __global float* dx) {
  FOR_EACH_LINE {
    const long row = divide(r, args.pixels), pixel = (r - row * args.pixels) * args.grid.columns;
    __global const float* grad = dy + args.dy.offset + row * args.dy.step + pixel;
    __global const float* from = x + args.x.offset + row * args.x.step + pixel;
    __global float* to = dx + args.out.offset + row * args.out.step + pixel;
    __global const float* a = coefficients + 3 * row * args.grid.columns;
    __global const float* b = a + args.grid.columns;
    __global const float* added = b + args.grid.columns;
    long c = c0;
    for (; c + VW <= c1; c += VW)
      VSTORE(fma(VLOAD(0, a + c), VLOAD(0, grad + c), fma(VLOAD(0, b + c), VLOAD(0, from + c), VLOAD(0, added + c))), 0,
             to + c);
    for (; c < c1; ++c) to[c] = fma(a[c], grad[c], fma(b[c], from[c], added[c]));
  }
}
