// Defines losses of a batch against targets of the whole data set, and their gradients (f32). Row r of the batch is row
// index[r] of the data set.
//
// softmax_loss: cross-entropy of softmax(logits).
//   inputs   logits: B x K, label: vector of rows (i32, every entry used in [0, K)), index: vector of B (i32)
//   attributes of the form: smoothing, in [0, 1), and gamma, 0 or more; at least one of them is 0
// squared_loss: mean over the K columns of a function of d = prediction - target.
//   inputs   prediction: B x K, target: rows x K, index: vector of B (i32)
//   attributes of the form: distance; delta (huber and smooth_l1 only)
// Both:
//   inputs   weight: vector of the rows of the data set (f32; n_inputs is 3 without it, and each weight is 1). A weight
//            multiplies the loss of its row and the gradient
//   outputs  rows: B x 2: the loss, and a second value. For softmax_loss, it is 1 if the row is a hit (the largest
//            logit, or the first of equal logits, is the label's), else 0. For squared_loss, it is the mean of d^2,
//            without a weight, or 0 if the loss is that mean: if the distance is squared and there are no weights
//            grad: B x K (n_outputs is 1 without it): scale * gradient of the row's loss; may be input 0
//   attributes scale, 1 / batch size for the mean over a batch
//   For an index or a label outside its range, see gather_rows.hpp; the row's loss and gradients are NaN.
//
// softmax_loss computes s = log(sum(exp(logit - max))), with the sum in index order, loss = s - (logit[label] - max),
// and gradient = softmax - (1 at the label). Rows are independent. Logits that are not finite have these results in
// their row, for any scale:
//   a NaN                             loss NaN, no hit, every gradient NaN
//   the largest is +inf               loss NaN, every gradient NaN; a hit if the first +inf is the label's
//   all are -inf                      loss NaN, every gradient NaN; a hit if the label is 0
//   -inf among larger logits          a probability of 0 and no gradient, except for the label, whose loss is +inf
//
// Smoothing replaces the 1 at the label by 1 - smoothing, and adds smoothing / K to every class, like PyTorch's
// label_smoothing. A row's weight multiplies the whole loss, whereas PyTorch multiplies the part of each class by the
// weight of that class (ATen/native/LossNLL.cpp, cross_entropy_loss_label_smoothing). With smoothing, -inf among larger
// logits gives a loss of +inf.
// gamma multiplies the loss L by (1 - p)^gamma, where p = exp(-L) is the probability of the label. This is the focal
// loss of Lin et al., Focal Loss for Dense Object Detection, 2017. Its gradient is that of L times
// (1 - p)^gamma + gamma (1 - p)^(gamma - 1) p L, which is 0 at p = 1 and 1 at p = 0.
//
// The distances are those of PyTorch's MSELoss, HuberLoss and SmoothL1Loss (with beta = delta; L1Loss if it is 0):
//   squared    d^2
//   huber      |d| <= delta: d^2 / 2, else delta (|d| - delta / 2)
//   smooth_l1  |d| < delta: d^2 / (2 delta), else |d| - delta / 2; at d = delta = 0 the gradient is 0
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

using Distance = mk_distance;
using SoftmaxForm = mk_softmax_form;

struct DistanceForm {
  MK_DISTANCE_FORM(MOKUME_FIELD)

  operator mk_distance_form() const { return std::bit_cast<mk_distance_form>(*this); }
};

// Computes only the losses if grad.buffer == NULL. There are no weights if weight.buffer == NULL.
inline mk_op loss_op(mk_op_code code, const mk_tensor& prediction, const mk_tensor& target, const mk_tensor& index,
                     const mk_tensor& rows, const mk_tensor& grad, const mk_tensor& weight) {
  mk_op op = sdk::make_op(code, {prediction, target, index}, {rows});
  if (weight.buffer != nullptr) op.inputs[op.n_inputs++] = weight;
  if (grad.buffer != nullptr) op.outputs[op.n_outputs++] = grad;
  return op;
}

inline mk_op softmax_loss(const mk_tensor& logits, const mk_tensor& label, const mk_tensor& index, double scale,
                          const mk_tensor& rows, const mk_tensor& grad, const mk_tensor& weight = {},
                          const SoftmaxForm& form = {}) {
  mk_op op = loss_op(MK_OP_SOFTMAX_LOSS, logits, label, index, rows, grad, weight);
  op.softmax_loss = {scale, form};
  return op;
}

inline mk_op squared_loss(const mk_tensor& prediction, const mk_tensor& target, const mk_tensor& index, double scale,
                          const mk_tensor& rows, const mk_tensor& grad, const mk_tensor& weight = {},
                          const DistanceForm& form = {}) {
  mk_op op = loss_op(MK_OP_SQUARED_LOSS, prediction, target, index, rows, grad, weight);
  op.squared_loss = {scale, form};
  return op;
}

// Returns whether the op is the plain loss of most models, for which backends have their fastest code.
inline bool is_plain_loss(const mk_op& op) {
  if (op.n_inputs != 3) return false;
  const mk_softmax_form& form = op.softmax_loss.form;
  return op.code == MK_OP_SQUARED_LOSS ? op.squared_loss.form.distance == Distance::squared
                                       : form.smoothing == 0 && form.gamma == 0;
}

MOKUME_ATTRIBUTES(kSoftmaxLossAttributes, mk_softmax_loss, MK_SOFTMAX_LOSS(MOKUME_ATTRIBUTE, MOKUME_PART));
MOKUME_ATTRIBUTES(kSquaredLossAttributes, mk_squared_loss, MK_SQUARED_LOSS(MOKUME_ATTRIBUTE, MOKUME_PART));

inline void check_loss(const char* name, const mk_op& op) {
  const mk_tensor& x = op.inputs[0];
  sdk::check_view(name, "prediction", x, MK_F32);
  sdk::check_operand(name, "index", op.inputs[2], 1, x.rows, MK_I32);
  sdk::check_operand(name, "rows", op.outputs[0], x.rows, 2);
  if (x.columns < 1) throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": there are no columns");
  if (op.n_inputs == 4) {
    sdk::check_operand(name, "weight", op.inputs[3], 1,
                       op.code == MK_OP_SOFTMAX_LOSS ? op.inputs[1].columns : op.inputs[1].rows);
  }
  if (op.n_outputs < 2) return;
  sdk::check_operand(name, "grad", op.outputs[1], x.rows, x.columns);
}

inline void check_softmax_loss(const mk_op& op) {
  check_loss("softmax_loss", op);
  sdk::check_operand("softmax_loss", "label", op.inputs[1], 1, op.inputs[1].columns, MK_I32);
  const auto [smoothing, gamma] = op.softmax_loss.form;
  if (!(smoothing >= 0 && smoothing < 1) || !(gamma >= 0 && std::isfinite(gamma)) || (smoothing > 0 && gamma > 0))
    throw Error(MK_INVALID_ARGUMENT, "softmax_loss: smoothing must be in [0, 1) and gamma not negative, one of them 0");
}

inline void check_squared_loss(const mk_op& op) {
  check_loss("squared_loss", op);
  sdk::check_operand("squared_loss", "target", op.inputs[1], op.inputs[1].rows, op.inputs[0].columns);
  const auto [distance, delta] = op.squared_loss.form;
  if (distance < Distance::squared || distance > Distance::smooth_l1)
    throw Error(MK_INVALID_ARGUMENT,
                "squared_loss: unknown distance " + std::to_string(static_cast<int64_t>(distance)));
  if (!(delta >= 0 && std::isfinite(delta)))
    throw Error(MK_INVALID_ARGUMENT, "squared_loss: delta must be finite and not negative");
}

// The tolerance of the loss is relative to 1 + |loss| + the largest |logit - max|, that of the gradient to |scale|. The
// weight and 1 + gamma multiply both.
inline double tolerance_softmax_loss(const mk_op& op) {
  return 8.0 * (std::sqrt(static_cast<double>(op.inputs[0].columns)) + 4.0) * 0x1p-24;
}

// With m = |prediction| + |target|, the tolerance of the loss is relative to the mean of m^2, (1 + delta) m or
// m^2 / delta + m, depending on the distance; that of the second output to the mean of m^2; and that of the gradient
// to |scale| / K times 2 m, m or 1 + m / delta. The weight multiplies loss and gradient.
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
