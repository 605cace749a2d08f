// Computes losses with weights, smoothing, a focal factor or a distance other than the square (sdk/ops/loss.hpp). Works
// like loss.cl, but column by column, because these losses are a small part of a step.
#include "common/exact.cl"
#include "common/math.cl"
#include "common/runs.cl"
#include "loss/loss_args.h"

// Returns the first lane of a vec.
#if VW == 1
#define FIRST(v) (v)
#else
#define FIRST(v) ((v).s0)
#endif

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
    if (args.smoothing > 0.0f)
      loss = (1.0f - args.smoothing) * loss + args.smoothing * (log_sum + below * args.per_column);
    float factor = weight;
    if (args.gamma > 0.0f) {
      // `rest` is 1 - p = 1 - exp(-loss), without cancellation where loss is small.
      const float p = FIRST(exp_f32(SPLAT(-loss)));
      const float rest = loss < 0.25f ? loss * (1.0f - loss * (0.5f - loss * (1.0f / 6.0f - loss * (1.0f / 24.0f -
                                        loss * (1.0f / 120.0f - loss * (1.0f / 720.0f))))))
                                      : 1.0f - p;
      const bool some = !(rest < 1e-30f);  // true for NaN
      const float power = some ? FIRST(exp_f32(SPLAT(args.gamma) * log_f32(SPLAT(rest)))) : 0.0f;
      const float more = p > 0.0f && some ? args.gamma * power * p * quotient(loss, rest) : 0.0f;
      factor *= power + more;
      loss *= power;
    }
    to[0] = loss * weight;
    to[1] = good && best == target ? 1.0f : 0.0f;
    if (!args.wanted) continue;
    const float share = FIRST(reciprocal(SPLAT(sum)));
    __global float* dx = grad + args.grad.offset + r * args.grad.step;
    for (long c = 0; c < args.columns; ++c) {
      const float wish = (c == target ? 1.0f - args.smoothing : 0.0f) + args.smoothing * args.per_column;
      dx[c] = (FIRST(exp_f32(SPLAT(x[c] - largest))) * share - wish) * factor * args.scale;
    }
  }
}

// These are values of ops::Distance.
#define HUBER 1
#define SMOOTH_L1 2

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
      const float d = x[c] - t[c], size = fabs(d), delta = args.delta;
      float loss = d * d, slope = 2.0f * d;
      if (args.distance == HUBER) {
        const bool far = size > delta;
        loss = far ? delta * (size - 0.5f * delta) : 0.5f * loss;
        slope = far ? copysign(delta, d) : d;
      } else if (args.distance == SMOOTH_L1) {
        const bool far = size >= delta;
        slope = far ? (d == 0.0f ? 0.0f : copysign(1.0f, d)) : quotient(d, delta);
        loss = far ? size - 0.5f * delta : 0.5f * d * slope;
      }
      sum += loss;
      squares += d * d;
      if (args.wanted) grad[args.grad.offset + r * args.grad.step + c] = slope * weight * args.scale;
    }
    to[0] = sum * args.per_column * weight;
    to[1] = good ? squares * args.per_column : NAN;
  }
}
