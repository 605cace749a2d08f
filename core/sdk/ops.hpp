// Lists all ops by code: name, shape rule, tolerance, cost and attributes. A new op adds its header and one row here.
#pragma once

#include <charconv>
#include <span>

#include "sdk/ops/affine_columns.hpp"
#include "sdk/ops/augment.hpp"
#include "sdk/ops/avg_pool.hpp"
#include "sdk/ops/batch_norm.hpp"
#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/conv2d.hpp"
#include "sdk/ops/dropout.hpp"
#include "sdk/ops/embedding.hpp"
#include "sdk/ops/fill.hpp"
#include "sdk/ops/gather_pixels.hpp"
#include "sdk/ops/gather_rows.hpp"
#include "sdk/ops/gemm.hpp"
#include "sdk/ops/group_norm.hpp"
#include "sdk/ops/kernel_map.hpp"
#include "sdk/ops/linear_update.hpp"
#include "sdk/ops/loss.hpp"
#include "sdk/ops/lrn.hpp"
#include "sdk/ops/max_pool.hpp"
#include "sdk/ops/multiply.hpp"
#include "sdk/ops/optimizer_step.hpp"
#include "sdk/ops/row_norm2.hpp"
#include "sdk/ops/softmax.hpp"

namespace mokume::ops {

inline constexpr int32_t kApart = -1, kInPlace0 = 0, kInPlace1 = 1, kInPlace2 = 2;

struct OpRule {
  mk_op_code code;
  const char* name;
  uint32_t min_inputs, max_inputs, min_outputs, max_outputs;
  int32_t in_place;                   // index of the output that may share the view of input 0, or kApart
  void (*check)(const mk_op&);        // throws Error(MK_INVALID_ARGUMENT)
  double (*tolerance)(const mk_op&);  // permitted deviation from the host oracle; see the op's header
  sdk::Cost (*cost)(const mk_op&);
  std::span<const Attribute> attributes = {};
};

inline constexpr OpRule kOps[] = {
    {MK_OP_FILL, "fill", 0, 0, 1, 1, kApart, check_fill, tolerance_fill, cost_fill, kFillAttributes},
    {MK_OP_GEMM, "gemm", 2, 3, 1, 1, kApart, check_gemm, tolerance_gemm, cost_gemm, kGemmAttributes},
    {MK_OP_ROW_NORM2, "row_norm2", 1, 1, 1, 1, kApart, check_row_norm2, tolerance_row_norm2, cost_row_norm2},
    {MK_OP_KERNEL_MAP, "kernel_map", 1, 3, 1, 1, kInPlace0, check_kernel_map, tolerance_kernel_map, cost_kernel_map,
     kKernelMapAttributes},
    {MK_OP_GATHER_ROWS, "gather_rows", 2, 2, 1, 1, kApart, check_gather_rows, tolerance_gather_rows, cost_gather_rows},
    {MK_OP_CONV2D, "conv2d", 2, 3, 1, 1, kApart, check_conv2d, tolerance_conv2d, cost_conv2d, kConv2dAttributes},
    {MK_OP_CONV2D_GRAD_INPUT, "conv2d_grad_input", 2, 3, 1, 1, kApart, check_conv2d_grad_input,
     tolerance_conv2d_grad_input, cost_conv2d_grad_input, kConv2dAttributes},
    {MK_OP_CONV2D_GRAD_WEIGHT, "conv2d_grad_weight", 2, 2, 1, 2, kApart, check_conv2d_grad_weight,
     tolerance_conv2d_grad_weight, cost_conv2d_grad_weight, kConv2dAttributes},
    {MK_OP_MAX_POOL, "max_pool", 1, 1, 2, 2, kApart, check_max_pool, tolerance_max_pool, cost_max_pool,
     kMaxPoolAttributes},
    {MK_OP_MAX_POOL_GRAD, "max_pool_grad", 2, 3, 1, 1, kApart, check_max_pool_grad, tolerance_max_pool_grad,
     cost_max_pool_grad, kMaxPoolAttributes},
    {MK_OP_AVG_POOL, "avg_pool", 1, 1, 1, 1, kApart, check_avg_pool, tolerance_avg_pool, cost_avg_pool,
     kAvgPoolAttributes},
    {MK_OP_AVG_POOL_GRAD, "avg_pool_grad", 1, 1, 1, 1, kApart, check_avg_pool_grad, tolerance_avg_pool_grad,
     cost_avg_pool_grad, kAvgPoolAttributes},
    {MK_OP_BIAS_ACT, "bias_act", 1, 2, 1, 1, kInPlace0, check_bias_act, tolerance_bias_act, cost_bias_act,
     kBiasActAttributes},
    {MK_OP_ACT_GRAD, "act_grad", 2, 2, 1, 1, kInPlace0, check_act_grad, tolerance_act_grad, cost_act_grad,
     kBiasActAttributes},
    {MK_OP_DROPOUT, "dropout", 1, 1, 1, 1, kInPlace0, check_dropout, tolerance_dropout, cost_dropout,
     kDropoutAttributes},
    {MK_OP_AFFINE_COLUMNS, "affine_columns", 2, 3, 1, 1, kInPlace0, check_affine_columns, tolerance_affine_columns,
     cost_affine_columns},
    {MK_OP_SOFTMAX_LOSS, "softmax_loss", 3, 4, 1, 2, kInPlace1, check_softmax_loss, tolerance_softmax_loss,
     cost_softmax_loss, kSoftmaxLossAttributes},
    {MK_OP_SQUARED_LOSS, "squared_loss", 3, 4, 1, 2, kInPlace1, check_squared_loss, tolerance_squared_loss,
     cost_squared_loss, kSquaredLossAttributes},
    {MK_OP_OPTIMIZER_STEP, "optimizer_step", 1, 2, 1, 4, kApart, check_optimizer_step, tolerance_optimizer_step,
     cost_optimizer_step, kOptimizerStepAttributes},
    {MK_OP_LINEAR_UPDATE, "linear_update", 2, 2, 3, 3, kInPlace2, check_linear_update, tolerance_linear_update,
     cost_linear_update, kLinearUpdateAttributes},
    {MK_OP_BATCH_NORM, "batch_norm", 3, 5, 1, 2, kInPlace0, check_batch_norm, tolerance_batch_norm, cost_batch_norm,
     kBatchNormAttributes},
    {MK_OP_BATCH_NORM_GRAD, "batch_norm_grad", 3, 4, 2, 4, kInPlace2, check_batch_norm_grad, tolerance_batch_norm_grad,
     cost_batch_norm_grad, kBatchNormAttributes},
    {MK_OP_GROUP_NORM, "group_norm", 3, 3, 2, 2, kInPlace0, check_group_norm, tolerance_group_norm, cost_group_norm,
     kGroupNormAttributes},
    {MK_OP_GROUP_NORM_GRAD, "group_norm_grad", 4, 4, 2, 3, kInPlace2, check_group_norm_grad, tolerance_group_norm_grad,
     cost_group_norm_grad, kGroupNormAttributes},
    {MK_OP_AUGMENT, "augment", 2, 2, 1, 1, kApart, check_augment, tolerance_augment, cost_augment, kAugmentAttributes},
    {MK_OP_GATHER_PIXELS, "gather_pixels", 3, 3, 1, 1, kApart, check_gather_pixels, tolerance_gather_pixels,
     cost_gather_pixels, kGatherPixelsAttributes},
    {MK_OP_GATHER_PIXELS_GRAD, "gather_pixels_grad", 3, 3, 1, 1, kApart, check_gather_pixels_grad,
     tolerance_gather_pixels_grad, cost_gather_pixels_grad, kGatherPixelsAttributes},
    {MK_OP_SOFTMAX, "softmax", 1, 1, 1, 1, kInPlace0, check_softmax, tolerance_softmax, cost_softmax},
    {MK_OP_SOFTMAX_GRAD, "softmax_grad", 2, 2, 1, 1, kInPlace0, check_softmax_grad, tolerance_softmax_grad,
     cost_softmax_grad},
    {MK_OP_MULTIPLY, "multiply", 2, 2, 1, 1, kInPlace0, check_multiply, tolerance_multiply, cost_multiply},
    {MK_OP_MULTIPLY_GRAD_FACTOR, "multiply_grad_factor", 2, 2, 1, 1, kApart, check_multiply_grad_factor,
     tolerance_multiply_grad_factor, cost_multiply_grad_factor},
    {MK_OP_LRN, "lrn", 1, 1, 1, 1, kApart, check_lrn, tolerance_lrn, cost_lrn, kLrnAttributes},
    {MK_OP_LRN_GRAD, "lrn_grad", 2, 2, 1, 1, kApart, check_lrn_grad, tolerance_lrn, cost_lrn_grad, kLrnAttributes},
    {MK_OP_EMBEDDING, "embedding", 2, 2, 1, 1, kApart, check_embedding, tolerance_embedding, cost_embedding},
    {MK_OP_EMBEDDING_GRAD, "embedding_grad", 2, 2, 1, 1, kApart, check_embedding_grad, tolerance_embedding_grad,
     cost_embedding_grad},
};
static_assert(sizeof(kOps) / sizeof(kOps[0]) == MK_OP_COUNT_ - 1, "every op code needs a row");

// Throws Error(MK_UNSUPPORTED) for an unknown code.
inline const OpRule& rule(int32_t code) {
  if (code < 1 || code >= MK_OP_COUNT_) throw Error(MK_UNSUPPORTED, "unknown op code " + std::to_string(code));
  return kOps[code - 1];
}

// Describes the op for messages: its name, the shapes of its operands, and the attributes with unusual values, as in
// "conv2d 8x784 25x20 -> 8x11520, height 28, width 28, kernel_h 5, kernel_w 5".
inline std::string text(const mk_op& op) {
  const OpRule& r = rule(op.code);
  std::string all = r.name;
  for (uint32_t i = 0; i < op.n_inputs; ++i) all += " " + sdk::shape(op.inputs[i]);
  all += " ->";
  for (uint32_t o = 0; o < op.n_outputs; ++o) all += " " + sdk::shape(op.outputs[o]);
  for (size_t i = 0; i < r.attributes.size(); ++i) {
    const auto& [name, usual, kind] = r.attributes[i];
    const int64_t value = op.attributes[i];
    if (value == usual) continue;
    char digits[32];
    char* const end = digits + sizeof digits;
    const auto written = kind == Attribute::real   ? std::to_chars(digits, end, std::bit_cast<double>(value))
                         : kind == Attribute::bits ? std::to_chars(digits, end, static_cast<uint64_t>(value))
                                                   : std::to_chars(digits, end, value);
    all += std::string(", ") + name + " " + std::string(digits, written.ptr);
  }
  return all;
}

// Throws Error(MK_INVALID_ARGUMENT) unless the op obeys its shape rule. Does not look at buffers.
inline void check(const mk_op& op) {
  const OpRule& r = rule(op.code);
  if (op.struct_size < sizeof(mk_op)) throw Error(MK_INVALID_ARGUMENT, "op descriptor is too small");
  if (op.n_inputs < r.min_inputs || op.n_inputs > r.max_inputs || op.n_outputs < r.min_outputs ||
      op.n_outputs > r.max_outputs)
    throw Error(MK_INVALID_ARGUMENT, std::string(r.name) + ": wrong number of operands");
  r.check(op);
}

}  // namespace mokume::ops
