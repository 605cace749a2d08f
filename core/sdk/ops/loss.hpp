// Losses of a batch against targets of the whole data set, and their gradients (f32). Row r of the batch is row
// index[r] of the data set.
//
// softmax_loss: cross-entropy of softmax(logits).
//   inputs   logits: B x K, label: vector of rows (i32, every entry used in [0, K)), index: vector of B (i32)
// squared_loss: mean over the K columns of (prediction - target)^2.
//   inputs   prediction: B x K, target: rows x K, index: vector of B (i32)
// Both:
//   outputs  rows: B x 2: the loss, and 1 if the row is a hit, else 0 (softmax_loss: a hit if the largest logit, or the
//            first of equal ones, is that of the label; squared_loss: always 0)
//            grad: B x K (n_outputs is 1 without it): scale * gradient of the row's loss; may be the same view as
//            input 0
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
#pragma once

#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

// Computes only the losses if grad.buffer == NULL.
inline mk_op loss_op(mk_op_code code, const mk_tensor& prediction, const mk_tensor& target, const mk_tensor& index,
                     double scale, const mk_tensor& rows, const mk_tensor& grad) {
  mk_op op = sdk::make_op(code);
  op.n_inputs = 3;
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
                          const mk_tensor& rows, const mk_tensor& grad) {
  return loss_op(MK_OP_SOFTMAX_LOSS, logits, label, index, scale, rows, grad);
}

inline mk_op squared_loss(const mk_tensor& prediction, const mk_tensor& target, const mk_tensor& index, double scale,
                          const mk_tensor& rows, const mk_tensor& grad) {
  return loss_op(MK_OP_SQUARED_LOSS, prediction, target, index, scale, rows, grad);
}

inline void check_loss(const char* name, const mk_op& op) {
  const mk_tensor& x = op.inputs[0];
  sdk::check_view(name, "prediction", x, MK_F32);
  sdk::check_view(name, "index", op.inputs[2], MK_I32);
  sdk::check_view(name, "rows", op.outputs[0], MK_F32);
  sdk::check_shape(name, "index", op.inputs[2], 1, x.rows);
  sdk::check_shape(name, "rows", op.outputs[0], x.rows, 2);
  if (x.columns < 1) throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": there are no columns");
  if (op.n_outputs < 2) return;
  sdk::check_view(name, "grad", op.outputs[1], MK_F32);
  sdk::check_shape(name, "grad", op.outputs[1], x.rows, x.columns);
}

inline void check_softmax_loss(const mk_op& op) {
  check_loss("softmax_loss", op);
  sdk::check_view("softmax_loss", "label", op.inputs[1], MK_I32);
  sdk::check_shape("softmax_loss", "label", op.inputs[1], 1, op.inputs[1].columns);
}

inline void check_squared_loss(const mk_op& op) {
  check_loss("squared_loss", op);
  sdk::check_view("squared_loss", "target", op.inputs[1], MK_F32);
  sdk::check_shape("squared_loss", "target", op.inputs[1], op.inputs[1].rows, op.inputs[0].columns);
}

// Loss: relative to 1 + |loss| + the largest |logit - max|. Gradient: relative to |scale|.
inline double tolerance_softmax_loss(const mk_op& op) {
  return 8.0 * (std::sqrt(static_cast<double>(op.inputs[0].columns)) + 4.0) * 0x1p-24;
}

// Loss: relative to the mean of (|prediction| + |target|)^2. Gradient: relative to
// |scale| * 2 / K * (|prediction| + |target|).
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
