#include "ops.hpp"

#include <algorithm>

#include "augment/augment.hpp"
#include "conv/conv.hpp"
#include "conv/variants.hpp"
#include "elementwise/elementwise.hpp"
#include "elementwise/layers.hpp"
#include "elementwise/variants.hpp"
#include "embedding/embedding.hpp"
#include "gemm/gemm.hpp"
#include "gemm/variants.hpp"
#include "group/variants.hpp"
#include "linear_update/linear_update.hpp"
#include "loss/loss.hpp"
#include "lrn/lrn.hpp"
#include "multiply/multiply.hpp"
#include "norm/batch_norm.hpp"
#include "norm/group_norm.hpp"
#include "optimizer/optimizer.hpp"
#include "pixels/pixels.hpp"
#include "pool/pool.hpp"
#include "row_norm2/row_norm2.hpp"
#include "runtime/device.hpp"
#include "sdk/ops.hpp"
#include "softmax/softmax.hpp"
#include "units/units.hpp"
#include "variants/variants.hpp"

namespace mokume::opencl {
namespace {

bool always(const mk_device&, const mk_op&) { return true; }

// A work-item of an emulated GPU must execute few loop iterations (see MK_DEVICE_SOFTWARE).
bool sums_are_short(const mk_device& device, const mk_op& op) {
  constexpr double kMostTerms = 30'000;
  if ((device.info.flags & MK_DEVICE_SOFTWARE) == 0) return true;
  double outputs = 0;
  for (uint32_t k = 0; k < op.n_outputs; ++k)
    outputs += static_cast<double>(op.outputs[k].rows) * static_cast<double>(op.outputs[k].columns);
  return ops::rule(op.code).cost(op).flops <= 2 * kMostTerms * std::max(1.0, outputs);
}

struct OpRow {
  mk_op_code code;
  void (*run)(Launcher& launcher, const mk_op& op);
  bool (*supports)(const mk_device& device, const mk_op& op);
  const VariantSet* variants;
};

constexpr OpRow kOps[] = {
    {MK_OP_FILL, fill, always, &kMapVariants},
    {MK_OP_GEMM, gemm, sums_are_short, &kGemmVariants},
    {MK_OP_ROW_NORM2, row_norm2, sums_are_short, &kMapVariants},
    {MK_OP_KERNEL_MAP, kernel_map, always, &kMapVariants},
    {MK_OP_GATHER_ROWS, gather_rows, always, &kMapVariants},
    {MK_OP_CONV2D, conv2d, sums_are_short, &kConvVariants},
    {MK_OP_CONV2D_GRAD_INPUT, conv2d_grad_input, sums_are_short, &kConvVariants},
    {MK_OP_CONV2D_GRAD_WEIGHT, conv2d_grad_weight, sums_are_short, &kConvVariants},
    {MK_OP_MAX_POOL, max_pool, sums_are_short, &kMapVariants},
    {MK_OP_MAX_POOL_GRAD, max_pool_grad, sums_are_short, &kMapVariants},
    {MK_OP_AVG_POOL, avg_pool, sums_are_short, &kMapVariants},
    {MK_OP_AVG_POOL_GRAD, avg_pool_grad, sums_are_short, &kMapVariants},
    {MK_OP_BIAS_ACT, bias_act, always, &kMapVariants},
    {MK_OP_ACT_GRAD, act_grad, always, &kMapVariants},
    {MK_OP_DROPOUT, dropout, always, &kMapVariants},
    {MK_OP_AFFINE_COLUMNS, affine_columns, always, &kMapVariants},
    {MK_OP_SOFTMAX_LOSS, softmax_loss, sums_are_short, &kMapVariants},
    {MK_OP_SQUARED_LOSS, squared_loss, sums_are_short, &kMapVariants},
    {MK_OP_OPTIMIZER_STEP, optimizer_step, always, &kMapVariants},
    {MK_OP_LINEAR_UPDATE, linear_update, sums_are_short, &kMapVariants},
    {MK_OP_BATCH_NORM, batch_norm, always, &kMapVariants},
    {MK_OP_BATCH_NORM_GRAD, batch_norm_grad, always, &kMapVariants},
    {MK_OP_GROUP_NORM, group_norm, always, &kMapVariants},
    {MK_OP_GROUP_NORM_GRAD, group_norm_grad, always, &kMapVariants},
    {MK_OP_AUGMENT, augment, always, &kMapVariants},
    {MK_OP_GATHER_PIXELS, gather_pixels, always, &kMapVariants},
    {MK_OP_GATHER_PIXELS_GRAD, gather_pixels_grad, sums_are_short, &kMapVariants},
    {MK_OP_SOFTMAX, softmax, sums_are_short, &kMapVariants},
    {MK_OP_SOFTMAX_GRAD, softmax_grad, sums_are_short, &kMapVariants},
    {MK_OP_MULTIPLY, multiply, always, &kMapVariants},
    {MK_OP_MULTIPLY_GRAD_FACTOR, multiply_grad_factor, sums_are_short, &kMapVariants},
    {MK_OP_LRN, lrn, always, &kMapVariants},
    {MK_OP_LRN_GRAD, lrn_grad, always, &kMapVariants},
    {MK_OP_EMBEDDING, embedding, always, &kMapVariants},
    {MK_OP_EMBEDDING_GRAD, embedding_grad, sums_are_short, &kMapVariants},
};

// The table must be in the order of the codes, because a code is used as an index.
constexpr bool is_in_order() {
  for (size_t i = 0; i < std::size(kOps); ++i)
    if (kOps[i].code != static_cast<mk_op_code>(i + 1)) return false;
  return std::size(kOps) == MK_OP_COUNT_ - 1;
}
static_assert(is_in_order(), "every op needs a row, in the order of abi/op.h");

const OpRow& row(const mk_op& op) { return kOps[op.code - 1]; }

}  // namespace

void submit(Launcher& launcher, const mk_op& op) {
  mark_written(op);
  run(launcher, op);
}

void mark_written(const mk_op& op) {
  for (uint32_t o = 0; o < op.n_outputs; ++o)
    if (op.outputs[o].buffer != nullptr) op.outputs[o].buffer->written();
}

void run(Launcher& launcher, const mk_op& op) { row(op).run(launcher, op); }

bool supports(const mk_device& device, const mk_op& op) { return row(op).supports(device, op); }

const std::vector<const VariantSet*>& variant_sets() {
  static const std::vector<const VariantSet*> sets = [] {
    std::vector<const VariantSet*> found{&kNumericsVariants, &kQuotientVariants, &kPrecisionVariants, &kUnitVariants};
    for (const OpRow& op : kOps)
      if (std::find(found.begin(), found.end(), op.variants) == found.end()) found.push_back(op.variants);
    found.push_back(&kSequenceVariants);
    return found;
  }();
  return sets;
}

}  // namespace mokume::opencl
