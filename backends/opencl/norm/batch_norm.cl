// Computes batch normalisation (sdk/ops/batch_norm.hpp). Sums run over blocks of rows, then over groups of blocks. Both
// are the same on every device, so the bits are, too.
#include "common/divide.cl"
#include "common/exact.cl"
#include "common/runs.cl"
#include "norm/batch_norm_args.h"

// These are the rows of `moments`.
#define NORM_MEAN 0
#define NORM_INVERSE 1
#define NORM_VARIANCE 2
#define NORM_SCALE 3
#define NORM_SHIFT 4

// `part` holds two lines of `columns` values for each block.
#define PART(block, line) (part + ((block) * 2 + (line)) * args.columns + c)

// Requires VW <= columns. A work-item processes VW columns of blocks_each blocks. The last vector starts early.
#define FOR_EACH_BLOCK                                                                     \
  const long vectors = (args.columns + VW - 1) / VW, item = (long)get_global_id(0);        \
  const long at = divide(item, vectors), first = at * args.blocks_each;                    \
  const int c = (int)min((item - at * vectors) * VW, (long)args.columns - VW);             \
  for (long block = first; block < min(first + args.blocks_each, args.blocks); ++block)

// Writes the mean of each block, and the sum of the squared differences from this mean.
__kernel void norm_blocks(ITEM const NormBlocksArgs args, __global const float* x, __global float* part) {
  FOR_EACH_BLOCK {
    const long begin = block * args.rows_each, end = min(begin + args.rows_each, args.rows);
    __global const float* from = x + args.x.offset + c;
    vec a = SPLAT(0.0f), b = SPLAT(0.0f);
    long r = begin;
    for (; r + 2 <= end; r += 2) {
      a += VLOAD(0, from + r * args.x.step);
      b += VLOAD(0, from + (r + 1) * args.x.step);
    }
    if (r < end) a += VLOAD(0, from + r * args.x.step);
    const vec mean = QUOTIENT(a + b, SPLAT((float)(end - begin)));
    a = b = SPLAT(0.0f);
    for (r = begin; r + 2 <= end; r += 2) {
      const vec u = VLOAD(0, from + r * args.x.step) - mean, v = VLOAD(0, from + (r + 1) * args.x.step) - mean;
      a = fma(u, u, a);
      b = fma(v, v, b);
    }
    if (r < end) {
      const vec u = VLOAD(0, from + r * args.x.step) - mean;
      a = fma(u, u, a);
    }
    VSTORE(mean, 0, PART(block, 0));
    VSTORE(a + b, 0, PART(block, 1));
  }
}

#define IN_FLIGHT 8  // loads that a work-item issues before it needs the first

// Merges k more rows with the formula of Chan, Golub and LeVeque.
#define MERGE(k, mean_of_k, squares_of_k)                                    \
  do {                                                                       \
    const float rows_ = (k), all_ = n + rows_, difference_ = (mean_of_k) - m; \
    m = fma(difference_, QUOTIENT(rows_, all_), m);                                   \
    s = s + fma(difference_ * difference_, QUOTIENT(n * rows_, all_), squares_of_k);  \
    n = all_;                                                                \
  } while (0)
#define ROWS_OF(block, rows_each, rows) ((float)(min(((block) + 1) * (rows_each), rows) - (block) * (rows_each)))

// Merges blocks [begin, end) of one column.
static void merge(__global const float* part, int columns, int c, long begin, long end, long rows_each, long rows,
                  __private float* mean, __private float* squares) {
  float m = 0.0f, s = 0.0f, n = 0.0f;
  long block = begin;
  for (; block + IN_FLIGHT <= end; block += IN_FLIGHT) {
    float means[IN_FLIGHT], more[IN_FLIGHT];
    UNROLL
    for (int u = 0; u < IN_FLIGHT; ++u) {
      means[u] = part[(block + u) * 2 * columns + c];
      more[u] = part[((block + u) * 2 + 1) * columns + c];
    }
    UNROLL
    for (int u = 0; u < IN_FLIGHT; ++u) MERGE(ROWS_OF(block + u, rows_each, rows), means[u], more[u]);
  }
  for (; block < end; ++block)
    MERGE(ROWS_OF(block, rows_each, rows), part[block * 2 * columns + c], part[(block * 2 + 1) * columns + c]);
  *mean = m;
  *squares = s;
}

// Adds one line of blocks [begin, end) of one column.
static float add_blocks(__global const float* part, int columns, int c, int line, long begin, long end) {
  float sum = 0.0f;
  long block = begin;
  for (; block + IN_FLIGHT <= end; block += IN_FLIGHT) {
    float more[IN_FLIGHT];
    UNROLL
    for (int u = 0; u < IN_FLIGHT; ++u) more[u] = part[((block + u) * 2 + line) * columns + c];
    UNROLL
    for (int u = 0; u < IN_FLIGHT; ++u) sum += more[u];
  }
  for (; block < end; ++block) sum += part[(block * 2 + line) * columns + c];
  return sum;
}

__kernel void norm_merge(ITEM const NormMergeArgs args, __global const float* from, __global float* part) {
  const long group = divide((long)get_global_id(0), args.columns);
  const int c = (int)((long)get_global_id(0) - group * args.columns);
  if (group * args.fan >= args.count) return;
  float mean, squares;
  merge(from, args.columns, c, group * args.fan, min((group + 1) * args.fan, args.count), args.rows_each, args.rows,
        &mean, &squares);
  *PART(group, 0) = mean;
  *PART(group, 1) = squares;
}

static void write_moments(const NormMomentsArgs args, int c, float mean, float squares, __global const float* weight,
                          __global const float* bias, __global float* moments) {
  const float inverse = QUOTIENT(1.0f, ROOT(QUOTIENT(squares, (float)args.rows) + args.eps));
  const float scale = weight[args.weight_offset + c] * inverse;
  moments += args.moments_offset + c;
  moments[NORM_MEAN * args.moments_step] = mean;
  moments[NORM_INVERSE * args.moments_step] = inverse;
  moments[NORM_VARIANCE * args.moments_step] = QUOTIENT(squares, (float)max(args.rows - 1, 1L));
  moments[NORM_SCALE * args.moments_step] = scale;
  moments[NORM_SHIFT * args.moments_step] = bias[args.bias_offset + c] - mean * scale;
}

// Merges at most FAN blocks.
__kernel void norm_moments(ITEM const NormMomentsArgs args, __global const float* part, __global const float* weight,
                           __global const float* bias, __global float* moments) {
  const int c = (int)get_global_id(0);
  if (c >= args.columns) return;
  float mean, squares;
  merge(part, args.columns, c, 0, args.count, args.rows_each, args.rows, &mean, &squares);
  write_moments(args, c, mean, squares, weight, bias, moments);
}

// Merges at most FAN groups of FAN blocks, and then the groups, as norm_merge and norm_moments do. Work-item (x, y) of
// SIDE x SIDE merges groups y, y + SIDE, ... of column x. `shared` holds two lines of SIDE values for each group.
#define FAN 64
#define SIDE 16

__kernel GROUP_OF(SIDE, SIDE) void norm_moments_together(ITEM const NormMomentsArgs args, __global const float* part,
                                                      __global const float* weight, __global const float* bias,
                                                      __global float* moments, __local float* shared) {
  const int c = (int)get_global_id(0), x = get_local_id(0), y = get_local_id(1);
  const int groups = (int)((args.count + FAN - 1) / FAN), here = c < args.columns ? groups : 0;
  float mean = 0.0f, squares = 0.0f;
  for (int group = y; group < here; group += SIDE) {
    merge(part, args.columns, c, group * FAN, min((long)(group + 1) * FAN, args.count), args.rows_each, args.rows, &mean,
          &squares);
    shared[group * 2 * SIDE + x] = mean;
    shared[(group * 2 + 1) * SIDE + x] = squares;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (y > 0 || c >= args.columns) return;
  if (groups > 1) {
    float m = 0.0f, s = 0.0f, n = 0.0f;
    for (int group = 0; group < groups; ++group)
      MERGE(ROWS_OF(group, args.rows_each * FAN, args.rows), shared[group * 2 * SIDE + x],
            shared[(group * 2 + 1) * SIDE + x]);
    mean = m;
    squares = s;
  }
  write_moments(args, c, mean, squares, weight, bias, moments);
}

// Writes the scale and the shift of a prediction, in this order.
__kernel void norm_given(ITEM const NormGivenArgs args, __global const float* weight, __global const float* bias,
                         __global const float* mean, __global const float* variance, __global float* to) {
  const int c = (int)get_global_id(0);
  if (c >= args.columns) return;
  const float scale = weight[args.weight_offset + c] * QUOTIENT(1.0f, ROOT(variance[args.variance_offset + c] + args.eps));
  to[c] = scale;
  to[args.columns + c] = bias[args.bias_offset + c] - mean[args.mean_offset + c] * scale;
}

// Every kernel uses this value, with these roundings, to decide whether a relu passes.
#define NORMALISED(x, scale, shift) ((x) * (scale) + (shift))
#define RELU(x) ((x) < 0.0f ? 0.0f : (x))  // lets a NaN pass through

__kernel void norm_apply(ITEM const NormApplyArgs args, __global const float* x, __global const float* moments,
                         __global float* y) {
  __global const float* scale = moments + args.scale_offset;
  __global const float* shift = moments + args.shift_offset;
  FOR_EACH_LINE {
    __global const float* from = x + args.x.offset + r * args.x.step;
    __global float* to = y + args.y.offset + r * args.y.step;
    long c = c0;
    for (; c + VW <= c1; c += VW) {
      const vec v = NORMALISED(VLOAD(0, from + c), VLOAD(0, scale + c), VLOAD(0, shift + c));
      VSTORE(args.relu ? RELU(v) : v, 0, to + c);
    }
    for (; c < c1; ++c) {
      const float v = NORMALISED(from[c], scale[c], shift[c]);
      to[c] = args.relu ? RELU(v) : v;
    }
  }
}

// Writes the sums of g and of g * (x - mean) over each block, the sums of even and odd rows apart.
__kernel void norm_products(ITEM const NormBlocksArgs args, __global const float* dy, __global const float* x,
                            __global const float* moments, __global float* part) {
  FOR_EACH_BLOCK {
    const long begin = block * args.rows_each, end = min(begin + args.rows_each, args.rows);
    __global const float* from = x + args.x.offset + c;
    __global const float* grad = dy + args.dy.offset + c;
    __global const float* of = moments + args.moments_offset + c;
    const vec mean = VLOAD(0, of + NORM_MEAN * args.moments_step), scale = VLOAD(0, of + NORM_SCALE * args.moments_step),
              shift = VLOAD(0, of + NORM_SHIFT * args.moments_step);
    vec sum[2] = {SPLAT(0.0f), SPLAT(0.0f)}, product[2] = {SPLAT(0.0f), SPLAT(0.0f)};
    for (long r = begin; r < end; r += 2) {
      UNROLL
      for (int i = 0; i < 2; ++i) {
        if (r + i == end) continue;
        const vec v = VLOAD(0, from + (r + i) * args.x.step);
        vec g = VLOAD(0, grad + (r + i) * args.dy.step);
        if (args.relu) g = NORMALISED(v, scale, shift) > 0.0f ? g : 0.0f;
        sum[i] += g;
        product[i] = fma(g, v - mean, product[i]);
      }
    }
    VSTORE(sum[0] + sum[1], 0, PART(block, 0));
    VSTORE(product[0] + product[1], 0, PART(block, 1));
  }
}

// Sums groups of `fan` blocks. The number of rows does not matter.
__kernel void norm_add(ITEM const NormMergeArgs args, __global const float* from, __global float* part) {
  const long group = divide((long)get_global_id(0), args.columns);
  const int c = (int)((long)get_global_id(0) - group * args.columns);
  if (group * args.fan >= args.count) return;
  for (int line = 0; line < 2; ++line)
    *PART(group, line) =
        add_blocks(from, args.columns, c, line, group * args.fan, min((group + 1) * args.fan, args.count));
}

// Writes dweight and dbias, then b and c of dx = scale * g + b * x + c, and the gradients of running moments.
static void write_coefficients(const NormCoefficientsArgs args, int c, float sum, float product,
                               __global const float* moments, __global const float* running, __global float* dweight,
                               __global float* dbias, __global float* drunning, __global float* to) {
  moments += args.moments_offset + c;
  const float inverse = moments[NORM_INVERSE * args.moments_step], scale = moments[NORM_SCALE * args.moments_step];
  product *= inverse;
  const float b = QUOTIENT(-scale * product, (float)args.rows) * inverse;
  dweight[args.dweight_offset + c] = product;
  dbias[args.dbias_offset + c] = sum;
  to[c] = b;
  to[args.columns + c] = QUOTIENT(-scale * sum, (float)args.rows) - b * moments[NORM_MEAN * args.moments_step];
  if (!args.runs) return;
  running += args.running.offset + c;
  drunning += args.drunning.offset + c;
  drunning[0] = (running[0] - moments[NORM_MEAN * args.moments_step]) * args.share;
  drunning[args.drunning.step] =
      (running[args.running.step] - moments[NORM_VARIANCE * args.moments_step]) * args.share;
}

// Adds at most FAN blocks.
__kernel void norm_coefficients(ITEM const NormCoefficientsArgs args, __global const float* part,
                                __global const float* moments, __global const float* running, __global float* dweight,
                                __global float* dbias, __global float* drunning, __global float* to) {
  const int c = (int)get_global_id(0);
  if (c >= args.columns) return;
  write_coefficients(args, c, add_blocks(part, args.columns, c, 0, 0, args.count),
                     add_blocks(part, args.columns, c, 1, 0, args.count), moments, running, dweight, dbias, drunning,
                     to);
}

// Adds at most FAN groups of FAN blocks like norm_moments_together.
__kernel GROUP_OF(SIDE, SIDE) void norm_coefficients_together(ITEM const NormCoefficientsArgs args,
                                                           __global const float* part, __global const float* moments,
                                                           __global const float* running, __global float* dweight,
                                                           __global float* dbias, __global float* drunning,
                                                           __global float* to, __local float* shared) {
  const int c = (int)get_global_id(0), x = get_local_id(0), y = get_local_id(1);
  const int groups = (int)((args.count + FAN - 1) / FAN), here = c < args.columns ? groups : 0;
  for (int group = y; group < here; group += SIDE)
    for (int line = 0; line < 2; ++line)
      shared[(group * 2 + line) * SIDE + x] =
          add_blocks(part, args.columns, c, line, group * FAN, min((long)(group + 1) * FAN, args.count));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (y > 0 || c >= args.columns) return;
  float sum = shared[x], product = shared[SIDE + x];
  for (int group = 1; group < groups; ++group) {
    sum += shared[group * 2 * SIDE + x];
    product += shared[(group * 2 + 1) * SIDE + x];
  }
  write_coefficients(args, c, sum, product, moments, running, dweight, dbias, drunning, to);
}

__kernel void norm_grad(ITEM const NormGradArgs args, __global const float* dy, __global const float* x,
                        __global const float* moments, __global const float* coefficients, __global float* dx) {
  __global const float* scale = moments + args.moments_offset + NORM_SCALE * args.moments_step;
  __global const float* shift = moments + args.moments_offset + NORM_SHIFT * args.moments_step;
  __global const float* b = coefficients;
  __global const float* added = coefficients + args.grid.columns;
  FOR_EACH_LINE {
    __global const float* grad = dy + args.dy.offset + r * args.dy.step;
    __global const float* from = x + args.x.offset + r * args.x.step;
    __global float* to = dx + args.dx.offset + r * args.dx.step;
    long c = c0;
    for (; c + VW <= c1; c += VW) {
      const vec v = VLOAD(0, from + c), s = VLOAD(0, scale + c);
      vec g = VLOAD(0, grad + c);
      if (args.relu) g = NORMALISED(v, s, VLOAD(0, shift + c)) > 0.0f ? g : 0.0f;
      VSTORE(fma(s, g, fma(VLOAD(0, b + c), v, VLOAD(0, added + c))), 0, to + c);
    }
    for (; c < c1; ++c) {
      const float v = from[c];
      const float g = !args.relu || NORMALISED(v, scale[c], shift[c]) > 0.0f ? grad[c] : 0.0f;
      to[c] = fma(scale[c], g, fma(b[c], v, added[c]));
    }
  }
}
