// Computes losses with weights, smoothing, a focal factor or a distance other than the square (sdk/ops/loss.hpp). Works
// like loss.cl, but column by column, because these losses are a small part of a step.
#include "common/math.cl"
#include "common/runs.cl"
#include "formulas/losses.cl"
#include "loss/loss_args.h"

__kernel void softmax_loss_general(ITEM const GeneralSoftmaxArgs args, __global const float* logits,
                                   __global const int* label, __global const int* index,
                                   __global const float* weights, __global float* out, __global float* grad) {
  const long r0 = (long)get_global_id(0) * args.rows_each, r1 = min(r0 + args.rows_each, args.rows);
  for (long r = r0; r < r1; ++r) {
    __global const float* x = logits + args.x.offset + r * args.x.step;
    __global float* to = out + args.out.offset + r * args.out.step;
    const long chosen = index[args.index_offset + r];
    const bool known = chosen >= 0 && chosen < args.labels;
    const long target = known ? label[args.label_offset + chosen] : -1;
    const float weight = args.weighted && known ? weights[args.weight_offset + chosen] : 1.0f;
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
    float sum = 0.0f, below = 0.0f;
    for (long c = 0; c < args.columns; ++c) {
      sum += FIRST(exp_f32(SPLAT(x[c] - largest)));
      below += largest - x[c];
    }
    const float log_sum = FIRST(log_f32(SPLAT(sum)));
    float loss = good ? log_sum - (x[target] - largest) : NAN;
    if (args.smoothing > 0.0f) loss = smoothed(loss, log_sum, below, args.smoothing, args.per_column);
    float factor = weight;
    if (args.gamma > 0.0f) {
      const Focal factors = focal(loss, args.gamma);
      factor *= factors.grad;
      loss *= factors.loss;
    }
    to[0] = loss * weight;
    to[1] = good && best == target ? 1.0f : 0.0f;
    if (!args.wanted) continue;
    const float share = FIRST(reciprocal(SPLAT(sum)));
    __global float* dx = grad + args.grad.offset + r * args.grad.step;
    for (long c = 0; c < args.columns; ++c) {
      const float wish = wish_of(c == target, args.smoothing, args.per_column);
      dx[c] = (FIRST(exp_f32(SPLAT(x[c] - largest))) * share - wish) * factor * args.scale;
    }
  }
}

// `scale` is already divided by the number of columns.
__kernel void distance_loss(ITEM const DistanceLossArgs args, __global const float* prediction,
                            __global const float* targets, __global const int* index, __global const float* weights,
                            __global float* out, __global float* grad) {
  const long r0 = (long)get_global_id(0) * args.rows_each, r1 = min(r0 + args.rows_each, args.rows);
  for (long r = r0; r < r1; ++r) {
    __global const float* x = prediction + args.x.offset + r * args.x.step;
    __global float* to = out + args.out.offset + r * args.out.step;
    const long chosen = index[args.index_offset + r];
    const bool good = chosen >= 0 && chosen < args.target_rows;
    __global const float* t = good ? targets + args.target.offset + chosen * args.target.step : x;
    const float weight = !good ? NAN : args.weighted ? weights[args.weight_offset + chosen] : 1.0f;
    float sum = 0.0f, squares = 0.0f;
    for (long c = 0; c < args.columns; ++c) {
      const float d = x[c] - t[c];
      const Distance at = distance_of(d, args.distance, args.delta);
      sum += at.loss;
      squares += d * d;
      if (args.wanted) grad[args.grad.offset + r * args.grad.step + c] = at.slope * weight * args.scale;
    }
    to[0] = sum * args.per_column * weight;
    to[1] = good ? squares * args.per_column : NAN;
  }
}
