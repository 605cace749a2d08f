// Losses of a batch against targets of the whole data set, and their gradients (f32). Row r of the batch is row
// index[r] of the data set.
//
// softmax_loss: cross-entropy of softmax(logits).
//   inputs   logits: B x K, label: vector of rows (i32, every entry used in [0, K)), index: vector of B (i32)
//   reals    [1] = smoothing, in [0, 1), [2] = gamma, 0 or more; one of them is 0
// squared_loss: mean over the K columns of a function of d = prediction - target.
//   inputs   prediction: B x K, target: rows x K, index: vector of B (i32)
//   integers [0] = Distance    reals    [1] = delta, of huber and smooth_l1
// Both:
//   inputs   weight: vector of rows, of the data set (f32; n_inputs is 3 without it, and each is 1): the loss of a row
//            and its gradient are multiplied by it
//   outputs  rows: B x 2: the loss, and 1 if the row is a hit, else 0 (softmax_loss: a hit if the largest logit, or the
//            first of equal ones, is that of the label; squared_loss: the mean of d^2, without a weight, or 0 where
//            that is the loss: if the distance is squared and there are no weights) grad: B x K (n_outputs is 1 without
//            it): scale * gradient of the row's loss; may be the same view as input 0
//   For an index or a label outside its range, see gather_rows.hpp; the row's loss and gradients are NaN.
//   reals    [0] = scale, 1 / batch size for the mean over a batch
//
// softmax_loss computes s = log(sum(exp(logit - max))) with the sum in index order; loss = s - (logit[label] - max);
// gradient = softmax - (1 at the label). Rows are independent. Logits that are not finite have these results in their
// row, for any scale:
//   a NaN                             loss NaN, no hit, every gradient NaN
//   the largest is +inf               loss NaN, every gradient NaN; a hit if the first +inf is the label's
//   all are -inf                      loss NaN, every gradient NaN; a hit if the label is 0
//   -inf among larger logits          a probability of 0 and no gradient, except for the label, whose loss is +inf
//
// Smoothing replaces the 1 at the label by 1 - smoothing, and adds smoothing / K to every class: PyTorch's
// label_smoothing. A row's weight multiplies all of it; PyTorch multiplies the part of each class by the weight of that
// class (ATen/native/LossNLL.cpp, cross_entropy_loss_label_smoothing). With smoothing, -inf among larger logits gives a
// loss of +inf.
// gamma multiplies the loss L by (1 - p)^gamma, p = exp(-L) the probability of the label: the focal loss of Lin et al.,
// Focal Loss for Dense Object Detection, 2017. Its gradient is that of L times
// (1 - p)^gamma + gamma (1 - p)^(gamma - 1) p L, which is 0 at p = 1 and 1 at p = 0.
//
// Distances, as PyTorch's MSELoss, HuberLoss and SmoothL1Loss (with beta = delta), of which L1Loss is delta = 0:
//   squared    d^2
//   huber      |d| <= delta: d^2 / 2, else delta (|d| - delta / 2)
//   smooth_l1  |d| < delta: d^2 / (2 delta), else |d| - delta / 2; at d = delta = 0 the gradient is 0
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

enum class Distance : int64_t { squared = 0, huber = 1, smooth_l1 = 2 };

struct SoftmaxForm {
  double smoothing = 0, gamma = 0;
};

struct DistanceForm {
  Distance distance = Distance::squared;
  double delta = 1;
};

// Computes only the losses if grad.buffer == NULL. There are no weights if weight.buffer == NULL.
inline mk_op loss_op(mk_op_code code, const mk_tensor& prediction, const mk_tensor& target, const mk_tensor& index,
                     double scale, const mk_tensor& rows, const mk_tensor& grad, const mk_tensor& weight) {
  mk_op op = sdk::make_op(code);
  op.n_inputs = weight.buffer == nullptr ? 3 : 4;
  if (op.n_inputs == 4) op.inputs[3] = weight;
  op.n_outputs = grad.buffer == nullptr ? 1 : 2;
  op.inputs[0] = prediction;
  op.inputs[1] = target;
  op.inputs[2] = index;
  op.outputs[0] = rows;
  if (op.n_outputs == 2) op.outputs[1] = grad;
  op.reals[0] = scale;
  return op;
}

inline mk_op softmax_loss(const mk_tensor& logits, const mk_tensor& label, const mk_tensor& index, double scale,
                          const mk_tensor& rows, const mk_tensor& grad, const mk_tensor& weight = {},
                          const SoftmaxForm& form = {}) {
  mk_op op = loss_op(MK_OP_SOFTMAX_LOSS, logits, label, index, scale, rows, grad, weight);
  op.reals[1] = form.smoothing;
  op.reals[2] = form.gamma;
  return op;
}

inline mk_op squared_loss(const mk_tensor& prediction, const mk_tensor& target, const mk_tensor& index, double scale,
                          const mk_tensor& rows, const mk_tensor& grad, const mk_tensor& weight = {},
                          const DistanceForm& form = {}) {
  mk_op op = loss_op(MK_OP_SQUARED_LOSS, prediction, target, index, scale, rows, grad, weight);
  op.integers[0] = static_cast<int64_t>(form.distance);
  op.reals[1] = form.delta;
  return op;
}

// Whether the op is the plain loss that most trainings take, for which backends have their fastest code.
inline bool is_plain_loss(const mk_op& op) {
  return op.n_inputs == 3 && op.integers[0] == 0 &&
         (op.code == MK_OP_SQUARED_LOSS || (op.reals[1] == 0 && op.reals[2] == 0));
}

inline void check_loss(const char* name, const mk_op& op) {
  const mk_tensor& x = op.inputs[0];
  sdk::check_view(name, "prediction", x, MK_F32);
  sdk::check_view(name, "index", op.inputs[2], MK_I32);
  sdk::check_view(name, "rows", op.outputs[0], MK_F32);
  sdk::check_shape(name, "index", op.inputs[2], 1, x.rows);
  sdk::check_shape(name, "rows", op.outputs[0], x.rows, 2);
  if (x.columns < 1) throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": there are no columns");
  if (op.n_inputs == 4) {
    sdk::check_view(name, "weight", op.inputs[3], MK_F32);
    sdk::check_shape(name, "weight", op.inputs[3], 1,
                     op.code == MK_OP_SOFTMAX_LOSS ? op.inputs[1].columns : op.inputs[1].rows);
  }
  if (op.n_outputs < 2) return;
  sdk::check_view(name, "grad", op.outputs[1], MK_F32);
  sdk::check_shape(name, "grad", op.outputs[1], x.rows, x.columns);
}

inline void check_softmax_loss(const mk_op& op) {
  check_loss("softmax_loss", op);
  sdk::check_view("softmax_loss", "label", op.inputs[1], MK_I32);
  sdk::check_shape("softmax_loss", "label", op.inputs[1], 1, op.inputs[1].columns);
  const double smoothing = op.reals[1], gamma = op.reals[2];
  if (!(smoothing >= 0 && smoothing < 1) || !(gamma >= 0 && std::isfinite(gamma)) || (smoothing > 0 && gamma > 0))
    throw Error(MK_INVALID_ARGUMENT, "softmax_loss: smoothing must be in [0, 1) and gamma not negative, one of them 0");
}

inline void check_squared_loss(const mk_op& op) {
  check_loss("squared_loss", op);
  sdk::check_view("squared_loss", "target", op.inputs[1], MK_F32);
  sdk::check_shape("squared_loss", "target", op.inputs[1], op.inputs[1].rows, op.inputs[0].columns);
  if (op.integers[0] < 0 || op.integers[0] > static_cast<int64_t>(Distance::smooth_l1))
    throw Error(MK_INVALID_ARGUMENT, "squared_loss: unknown distance " + std::to_string(op.integers[0]));
  if (!(op.reals[1] >= 0 && std::isfinite(op.reals[1])))
    throw Error(MK_INVALID_ARGUMENT, "squared_loss: delta must be finite and not negative");
}

// Loss: relative to 1 + |loss| + the largest |logit - max|. Gradient: relative to |scale|. Both times the weight, and
// times 1 + gamma.
inline double tolerance_softmax_loss(const mk_op& op) {
  return 8.0 * (std::sqrt(static_cast<double>(op.inputs[0].columns)) + 4.0) * 0x1p-24;
}

// With m = |prediction| + |target|. Loss: relative to the mean of m^2, (1 + delta) m or m^2 / delta + m by distance;
// the second output to the mean of m^2. Gradient: relative to |scale| / K times 2 m, m or 1 + m / delta. Loss and
// gradient times the weight.
inline double tolerance_squared_loss(const mk_op& op) {
  return 4.0 * (std::sqrt(static_cast<double>(op.inputs[0].columns)) + 4.0) * 0x1p-24;
}

inline sdk::Cost cost_softmax_loss(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {25 * e, 8 * e};
}

inline sdk::Cost cost_squared_loss(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {5 * e, 12 * e};
}

}  // namespace mokume::ops
