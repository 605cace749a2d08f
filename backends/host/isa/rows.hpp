// Declares loops over a row: softmax, losses and local response normalisation, under the rules of loops.hpp.
#pragma once

#include <cstdint>

#include "abi/op.h"

namespace mokume::host {

// Describes a row of softmax_loss (sdk/ops/loss.hpp).
struct SoftmaxLossRow {
  const float* logits;
  float* out;   // the loss, and 1 for a hit
  float* grad;  // null if it is not wanted; may be `logits`
  int64_t n, target;
  bool plain;  // without a weight, smoothing or gamma
  float weight, scale, smoothing, gamma, per_column;
};

// Describes a row of squared_loss. `per_column` is 1 / n. `scale` is already divided by n and, if the loss is plain,
// doubled.
struct DistanceLossRow {
  const float* prediction;
  const float* target;
  float* out;   // the loss, and the mean square or 0
  float* grad;  // null if it is not wanted; may be `prediction`
  int64_t n;
  bool plain;  // squared, without a weight
  mk_distance distance;
  float weight, scale, delta, per_column;
};

// Describes local response normalisation. An element has the neighbours from `before` places before it to `after`
// places after it. `share` is alpha / size.
struct LrnForm {
  int64_t before, after;
  float share, beta, bias;
};

struct RowLoops {
  // out may be x.
  void (*softmax)(const float* x, float* out, int64_t n);
  // dx may be grad.
  void (*softmax_grad)(const float* grad, const float* y, float* dx, int64_t n);
  void (*softmax_loss)(const SoftmaxLossRow& row);
  void (*distance_loss)(const DistanceLossRow& row);
  // Rows continue with zeros on both sides: `before` before x and `after` after it, and for lrn_grad, as many as both
  // before and after grad and x. `terms` has room for before + n + after elements.
  void (*lrn)(const LrnForm& form, const float* x, float* out, int64_t n);
  void (*lrn_grad)(const LrnForm& form, const float* grad, const float* x, float* terms, float* dx, int64_t n);
};

}  // namespace mokume::host
