// Defines batch normalisation (Ioffe and Szegedy, 2015, arXiv:1502.03167) of the columns of a matrix, as in PyTorch's
// BatchNorm (f32). Rows are samples, or the pixels of images.
//
// batch_norm: y = activation(x * scale + shift), column by column, with scale = weight / sqrt(variance + eps) and
// shift = bias - mean * scale.
//   inputs   x: M x K, weight: vector of K, bias: vector of K; for predictions also mean: vector of K and
//            variance: vector of K (n_inputs is 3 without them)
//   outputs  y: M x K; may be the same view as x
//            moments: 5 x K, only if n_inputs is 3: the mean and 1 / sqrt(variance + eps) of these rows, the variance
//            over M - 1 (over M if M is 1), scale, shift. The normalisation itself uses the variance over M
//   attributes activation (none or relu); eps, above 0
//   M may be 0 only for predictions.
//
// batch_norm_grad: dweight = the sum of g * d, dbias = the sum of g, and
// dx = scale * (g - dbias / M - d * dweight / M), where d = (x - mean) / sqrt(variance + eps), and g is dy, or 0 if the
// activation is relu and x * scale + shift is not above 0.
//   inputs   dy: M x K, x: M x K, moments: 5 x K, and optionally running: 2 x K, the running mean and variance
//   outputs  dweight: vector of K, dbias: vector of K
//            dx: M x K, optional; may be the same view as dy
//            drunning: 2 x K, only with `running`: (running - the mean and the variance of these rows) * share, for an
//            optimizer that moves running moments like parameters (docs/adr/0037)
//   attributes activation; share, only with `running`
//   M is at least 1.
//
// Sums over rows have a fixed order. Moments are accurate for any mean, because the squares are those of differences
// from the means of blocks, which the formula of Chan, Golub and LeVeque (1983) combines.
#pragma once

#include <algorithm>
#include <cmath>

#include "sdk/ops/bias_act.hpp"

namespace mokume::ops {

enum NormMoment { kNormMean, kNormInverse, kNormVariance, kNormScale, kNormShift, kNormMoments };  // rows of `moments`

// Normalises by the moments of the batch, and writes them to `moments`.
inline mk_op batch_norm(const mk_tensor& x, const mk_tensor& weight, const mk_tensor& bias, double eps,
                        Activation activation, const mk_tensor& y, const mk_tensor& moments) {
  mk_op op = sdk::make_op(MK_OP_BATCH_NORM, {x, weight, bias}, {y, moments});
  op.batch_norm = {activation, eps, 1};
  return op;
}

// Normalises by given moments, for a prediction.
inline mk_op batch_norm_given(const mk_tensor& x, const mk_tensor& weight, const mk_tensor& bias, const mk_tensor& mean,
                              const mk_tensor& variance, double eps, Activation activation, const mk_tensor& y) {
  mk_op op = sdk::make_op(MK_OP_BATCH_NORM, {x, weight, bias, mean, variance}, {y});
  op.batch_norm = {activation, eps, 1};
  return op;
}

struct RunningMoments {
  mk_tensor moments = {};  // no gradient of running moments if moments.buffer == NULL
  double share = 1;
  mk_tensor gradient = {};
};

// There is no dx if dx.buffer == NULL.
inline mk_op batch_norm_grad(const mk_tensor& dy, const mk_tensor& x, const mk_tensor& moments, Activation activation,
                             const mk_tensor& dweight, const mk_tensor& dbias, const mk_tensor& dx,
                             const RunningMoments& running = {}) {
  mk_op op = sdk::make_op(MK_OP_BATCH_NORM_GRAD, {dy, x, moments}, {dweight, dbias});
  if (dx.buffer != nullptr) op.outputs[op.n_outputs++] = dx;
  if (running.moments.buffer != nullptr) {
    op.inputs[op.n_inputs++] = running.moments;
    op.outputs[op.n_outputs++] = running.gradient;
  }
  op.batch_norm.activation = activation;
  op.batch_norm.share = running.share;
  return op;
}

// Return the optional outputs of batch_norm_grad, or NULL.
inline const mk_tensor* norm_drunning(const mk_op& op) {
  return op.n_inputs == 4 ? &op.outputs[op.n_outputs - 1] : nullptr;
}
inline const mk_tensor* norm_dx(const mk_op& op) {
  return op.n_outputs > (op.n_inputs == 4 ? 3 : 2) ? &op.outputs[2] : nullptr;
}

MOKUME_ATTRIBUTES(kBatchNormAttributes, mk_batch_norm, MK_BATCH_NORM(MOKUME_ATTRIBUTE));

inline void check_batch_norm(const mk_op& op) {
  using sdk::check_operand;
  constexpr const char* kName = "batch_norm";
  const mk_tensor& x = op.inputs[0];
  check_activation(kName, op.batch_norm.activation, Activation::relu);
  sdk::check_view(kName, "x", x, MK_F32);
  const char* vectors[] = {"weight", "bias", "mean", "variance"};
  for (uint32_t i = 1; i < op.n_inputs; ++i) check_operand(kName, vectors[i - 1], op.inputs[i], 1, x.columns);
  check_operand(kName, "y", op.outputs[0], x.rows, x.columns);
  if (!(op.batch_norm.eps > 0) || !std::isfinite(op.batch_norm.eps))
    throw Error(MK_INVALID_ARGUMENT, "batch_norm: eps must be above 0");
  if (op.n_inputs == 4 || op.n_outputs != (op.n_inputs == 5 ? 1U : 2U))
    throw Error(MK_INVALID_ARGUMENT, "batch_norm: mean and variance are given together, instead of moments");
  if (op.n_outputs < 2) return;
  check_operand(kName, "moments", op.outputs[1], kNormMoments, x.columns);
  if (x.rows < 1) throw Error(MK_INVALID_ARGUMENT, "batch_norm: there are no rows");
}

inline void check_batch_norm_grad(const mk_op& op) {
  using sdk::check_operand;
  constexpr const char* kName = "batch_norm_grad";
  const mk_tensor& x = op.inputs[1];
  check_activation(kName, op.batch_norm.activation, Activation::relu);
  sdk::check_view(kName, "x", x, MK_F32);
  check_operand(kName, "dy", op.inputs[0], x.rows, x.columns);
  check_operand(kName, "moments", op.inputs[2], kNormMoments, x.columns);
  check_operand(kName, "dweight", op.outputs[0], 1, x.columns);
  check_operand(kName, "dbias", op.outputs[1], 1, x.columns);
  if (op.n_outputs > (op.n_inputs == 4 ? 4 : 3) || op.n_outputs < (op.n_inputs == 4 ? 3 : 2))
    throw Error(MK_INVALID_ARGUMENT, "batch_norm_grad: running moments and their gradients are given together");
  if (const mk_tensor* dx = norm_dx(op)) check_operand(kName, "dx", *dx, x.rows, x.columns);
  if (const mk_tensor* drunning = norm_drunning(op)) {
    check_operand(kName, "running", op.inputs[3], 2, x.columns);
    check_operand(kName, "drunning", *drunning, 2, x.columns);
    if (!std::isfinite(op.batch_norm.share)) throw Error(MK_INVALID_ARGUMENT, "batch_norm_grad: share must be finite");
  }
  if (x.rows < 1) throw Error(MK_INVALID_ARGUMENT, "batch_norm_grad: there are no rows");
}

// Sums consist of blocks of at most 4096 rows, whose rounding errors grow with the root of their length.
inline double tolerance_of_norm_sums(int64_t rows) {
  return 4.0 * (std::sqrt(static_cast<double>(std::min<int64_t>(rows, 4096))) + 8.0) * 0x1p-24;
}

// With m = the mean of |x|, q = 1 + m / sqrt(variance + eps), by which an error of the mean grows, and
// s = |weight| / sqrt(variance + eps), the tolerance is relative to m for the mean, to q times their values for
// 1 / sqrt, variance and scale, to |bias| + q * s * m for the shift, and to |bias| + q * s * (|x| + m) for y.
inline double tolerance_batch_norm(const mk_op& op) { return tolerance_of_norm_sums(op.inputs[0].rows); }

// The tolerance is relative to the sums of the magnitudes of the terms, where |x| + |mean| stands for x - mean. For
// drunning, it is relative to (|running| + |moment|) * |share|.
inline double tolerance_batch_norm_grad(const mk_op& op) { return tolerance_of_norm_sums(op.inputs[1].rows); }

inline sdk::Cost cost_batch_norm(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return op.n_outputs == 2 ? sdk::Cost{7 * e, 12 * e} : sdk::Cost{2 * e, 8 * e};
}

inline sdk::Cost cost_batch_norm_grad(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[1].rows) * static_cast<double>(op.inputs[1].columns);
  return norm_dx(op) != nullptr ? sdk::Cost{14 * e, 20 * e} : sdk::Cost{7 * e, 8 * e};
}

}  // namespace mokume::ops
