// Computes losses of a batch, rows_each rows per work-item. An index or label out of range gives NaN without an access.
#include "common/math.cl"
#include "common/runs.cl"
#include "loss/loss_args.h"

// Writes {loss, hit} to out, and the gradient if `wanted` is 1. Sums exponentials in the order of the columns.
__kernel void softmax_loss(ITEM const SoftmaxLossArgs args, __global const float* logits, __global const int* label,
                           __global const int* index, __global float* out, __global float* grad) {
  const long r0 = (long)get_global_id(0) * args.rows_each, r1 = min(r0 + args.rows_each, args.rows);
  for (long r = r0; r < r1; ++r) {
    __global const float* x = logits + args.x.offset + r * args.x.step;
    __global float* to = out + args.out.offset + r * args.out.step;
    const long chosen = index[args.index_offset + r];
    const long target = chosen < 0 || chosen >= args.labels ? -1 : label[args.label_offset + chosen];
    long best = 0;
    float largest = x[0];
    bool good = target >= 0 && target < args.columns;
    for (long c = 0; c < args.columns; ++c) {
      const float v = x[c];
      good = good && v == v;
      best = v > largest ? c : best;
      largest = v > largest ? v : largest;
    }
    if (!good) largest = NAN;
    float terms[VW];
    float sum = 0.0f;
    for (long c = 0; c < args.columns; c += VW) {
      const int n = (int)min((long)VW, args.columns - c);
      VSTORE(exp_f32(load_some(x + c, n) - SPLAT(largest)), 0, terms);
      for (int i = 0; i < n; ++i) sum += terms[i];
    }
    VSTORE(log_f32(SPLAT(sum)), 0, terms);
    to[0] = good ? terms[0] - (x[target] - largest) : NAN;
    to[1] = good && best == target ? 1.0f : 0.0f;
    if (!args.wanted) continue;
    VSTORE(reciprocal(SPLAT(sum)), 0, terms);
    const vec share = SPLAT(terms[0]);
    __global float* dx = grad + args.grad.offset + r * args.grad.step;
    for (long c = 0; c < args.columns; c += VW) {
      const int n = (int)min((long)VW, args.columns - c);
      const vec p = exp_f32(load_some(x + c, n) - SPLAT(largest)) * share;
      if (target < c || target >= c + n) {
        store_some(p * SPLAT(args.scale), dx + c, n);
        continue;
      }
      VSTORE(p, 0, terms);
      terms[target - c] -= 1.0f;
      store_some(VLOAD(0, terms) * SPLAT(args.scale), dx + c, n);
    }
  }
}

#if VW > 1
#define SHORT_ROW 64

// Does the work of softmax_loss, with the same operations and bits, for rows of up to SHORT_ROW columns, one per lane.
__kernel ONE_ITEM void softmax_loss_short(ITEM const SoftmaxLossArgs args, __global const float* logits,
                                          __global const int* label, __global const int* index, __global float* out,
                                          __global float* grad) {
  const long r0 = (long)get_global_id(0) * args.rows_each, r1 = min(r0 + args.rows_each, args.rows);
  const int count = (int)args.columns;
  float tile[SHORT_ROW * VW];  // columns of VW rows
  int targets[VW];
  float at_target[VW], losses[VW], hits[VW];
  for (long r = r0; r < r1; r += VW) {
    const int live = (int)min((long)VW, r1 - r);
    for (int i = 0; i < VW; ++i) {
      // Lanes without a row repeat the last row.
      const long row = r + min(i, live - 1);
      __global const float* x = logits + args.x.offset + row * args.x.step;
      for (int c = 0; c < count; ++c) tile[c * VW + i] = x[c];
      const long chosen = index[args.index_offset + row];
      const int target = chosen < 0 || chosen >= args.labels ? -1 : label[args.label_offset + chosen];
      const bool inside = target >= 0 && target < count;
      targets[i] = inside ? target : 0;
      at_target[i] = inside ? x[target] : NAN;
    }
    vec largest = VLOAD(0, tile);
    ivec best = (ivec)(0), good = largest == largest;
    for (int c = 1; c < count; ++c) {
      const vec v = VLOAD(c, tile);
      const ivec larger = v > largest;
      good &= v == v;
      best = larger ? (ivec)(c) : best;
      largest = larger ? v : largest;
    }
    const ivec target = VLOAD(0, targets);
    const vec target_logit = VLOAD(0, at_target);
    // The logit is NaN if the label is out of range.
    good &= target_logit == target_logit;
    largest = good ? largest : NAN;
    vec sum = SPLAT(0.0f);
    for (int c = 0; c < count; ++c) {
      const vec e = exp_f32(VLOAD(c, tile) - largest);
      sum += e;
      VSTORE(e, c, tile);
    }
    VSTORE(log_f32(sum) - (target_logit - largest), 0, losses);
    VSTORE((good & (best == target)) ? SPLAT(1.0f) : SPLAT(0.0f), 0, hits);
    for (int i = 0; i < live; ++i) {
      __global float* to = out + args.out.offset + (r + i) * args.out.step;
      to[0] = losses[i];
      to[1] = hits[i];
    }
    if (!args.wanted) continue;
    const vec share = reciprocal(sum);
    for (int c = 0; c < count; ++c) {
      const vec p = VLOAD(c, tile) * share;
      VSTORE((target == (ivec)(c) ? p - SPLAT(1.0f) : p) * SPLAT(args.scale), c, tile);
    }
    for (int i = 0; i < live; ++i) {
      __global float* dx = grad + args.grad.offset + (r + i) * args.grad.step;
      for (int c = 0; c < count; ++c) dx[c] = tile[c * VW + i];
    }
  }
}
#endif

// Adds squares as in row_norm2.cl. `mean` is 1 / columns, and `factor` is 2 * scale / columns.
__kernel void squared_loss(ITEM const SquaredLossArgs args, __global const float* prediction,
                           __global const float* targets, __global const int* index, __global float* out,
                           __global float* grad) {
  const long r0 = (long)get_global_id(0) * args.rows_each, r1 = min(r0 + args.rows_each, args.rows);
  for (long r = r0; r < r1; ++r) {
    __global const float* x = prediction + args.x.offset + r * args.x.step;
    __global float* to = out + args.out.offset + r * args.out.step;
    __global float* dx = grad + args.grad.offset + r * args.grad.step;
    const long chosen = index[args.index_offset + r];
    const bool good = chosen >= 0 && chosen < args.target_rows;
    __global const float* t = good ? targets + args.target.offset + chosen * args.target.step : x;
    const float by = good ? args.factor : NAN;
    float16 lanes = (float16)(good ? 0.0f : NAN);
    long c = 0;
    for (; c + 16 <= args.columns; c += 16) {
      const float16 d = vload16(0, x + c) - vload16(0, t + c);
      lanes = fma(d, d, lanes);
      if (args.wanted) vstore16(d * by, 0, dx + c);
    }
    if (c < args.columns) {
      float rest[16];
      for (int j = 0; j < 16; ++j) rest[j] = c + j < args.columns ? x[c + j] - t[c + j] : 0.0f;
      const float16 d = vload16(0, rest);
      lanes = fma(d, d, lanes);
      for (int j = 0; args.wanted && c + j < args.columns; ++j) dx[c + j] = rest[j] * by;
    }
    const float8 h8 = lanes.lo + lanes.hi;
    const float4 h4 = h8.lo + h8.hi;
    const float2 h2 = h4.lo + h4.hi;
    to[0] = (h2.x + h2.y) * args.mean;
    to[1] = 0.0f;
  }
}
