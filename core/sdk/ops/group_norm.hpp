// Defines group normalisation (Wu and He, 2018, arXiv:1803.08494) of each row separately, as in PyTorch's GroupNorm,
// with its extremes LayerNorm and InstanceNorm (f32). A row has `pixels` pixels of `channels` channels;
// channels / groups adjacent channels form a group.
//
// group_norm: y = (x - mean) / sqrt(variance + eps) * weight + bias, with the mean and the variance (over all elements)
// of the element's group, and the weight and the bias of its channel.
//   inputs   x: N x (pixels * channels), weight: vector of channels, bias: vector of channels
//   outputs  y: N x (pixels * channels); may be the same view as x
//            moments: N x (2 * groups): the means, then 1 / sqrt(variance + eps)
//   attributes pixels, channels and groups, which divides channels; eps, above 0
//
// group_norm_grad: dweight = the sum of dy * d and dbias = the sum of dy, both over rows and pixels, and
// dx = (g - mean of g - d * mean of g * d) / sqrt(variance + eps), with means over the group, where
// d = (x - mean) / sqrt(variance + eps) and g = dy * weight.
//   inputs   dy: N x (pixels * channels), x: likewise, weight: vector of channels, moments: N x (2 * groups)
//   outputs  dweight: vector of channels, dbias: vector of channels
//            dx: N x (pixels * channels) (n_outputs is 2 without it); may be the same view as dy
//   attributes as above, without eps
//
// The order of every sum is fixed. It depends on the other rows only for dweight and dbias, which sum over rows.
#pragma once

#include <algorithm>
#include <cmath>

#include "sdk/tensor.hpp"

namespace mokume::ops {

struct NormGroups {
  MK_NORM_GROUPS(MOKUME_FIELD)

  operator mk_norm_groups() const { return std::bit_cast<mk_norm_groups>(*this); }
  int64_t row() const { return pixels * channels; }
  int64_t each() const { return channels / groups; }  // number of channels of a group
};

inline NormGroups norm_groups_of(const mk_op& op) { return std::bit_cast<NormGroups>(op.group_norm.groups); }

inline mk_op group_norm(const mk_tensor& x, const mk_tensor& weight, const mk_tensor& bias, const NormGroups& groups,
                        double eps, const mk_tensor& y, const mk_tensor& moments) {
  mk_op op = sdk::make_op(MK_OP_GROUP_NORM, {x, weight, bias}, {y, moments});
  op.group_norm = {groups, eps};
  return op;
}

// There is no dx if dx.buffer == NULL.
inline mk_op group_norm_grad(const mk_tensor& dy, const mk_tensor& x, const mk_tensor& weight, const mk_tensor& moments,
                             const NormGroups& groups, const mk_tensor& dweight, const mk_tensor& dbias,
                             const mk_tensor& dx) {
  mk_op op = sdk::make_op(MK_OP_GROUP_NORM_GRAD, {dy, x, weight, moments}, {dweight, dbias});
  if (dx.buffer != nullptr) op.outputs[op.n_outputs++] = dx;
  op.group_norm.groups = groups;
  return op;
}

MOKUME_ATTRIBUTES(kGroupNormAttributes, mk_group_norm, MK_GROUP_NORM(MOKUME_ATTRIBUTE, MOKUME_PART));

inline NormGroups check_norm_groups(const char* name, const mk_op& op) {
  constexpr int64_t kLimit = int64_t{1} << 40;
  const NormGroups g = norm_groups_of(op);
  if (g.pixels < 1 || g.channels < 1 || g.groups < 1 || g.pixels > kLimit || g.channels > kLimit / g.pixels)
    throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": pixels, channels and groups must be at least 1");
  if (g.groups > g.channels || g.channels % g.groups != 0)
    throw Error(MK_INVALID_ARGUMENT, std::string(name) + ": the number of groups must divide the number of channels");
  return g;
}

inline void check_group_norm(const mk_op& op) {
  constexpr const char* kName = "group_norm";
  const NormGroups g = check_norm_groups(kName, op);
  const int64_t rows = op.inputs[0].rows;
  sdk::check_operand(kName, "x", op.inputs[0], rows, g.row());
  sdk::check_operand(kName, "weight", op.inputs[1], 1, g.channels);
  sdk::check_operand(kName, "bias", op.inputs[2], 1, g.channels);
  sdk::check_operand(kName, "y", op.outputs[0], rows, g.row());
  sdk::check_operand(kName, "moments", op.outputs[1], rows, 2 * g.groups);
  if (!(op.group_norm.eps > 0) || !std::isfinite(op.group_norm.eps))
    throw Error(MK_INVALID_ARGUMENT, "group_norm: eps must be above 0");
}

inline void check_group_norm_grad(const mk_op& op) {
  constexpr const char* kName = "group_norm_grad";
  const NormGroups g = check_norm_groups(kName, op);
  const int64_t rows = op.inputs[0].rows;
  sdk::check_operand(kName, "dy", op.inputs[0], rows, g.row());
  sdk::check_operand(kName, "x", op.inputs[1], rows, g.row());
  sdk::check_operand(kName, "weight", op.inputs[2], 1, g.channels);
  sdk::check_operand(kName, "moments", op.inputs[3], rows, 2 * g.groups);
  sdk::check_operand(kName, "dweight", op.outputs[0], 1, g.channels);
  sdk::check_operand(kName, "dbias", op.outputs[1], 1, g.channels);
  if (op.n_outputs > 2) sdk::check_operand(kName, "dx", op.outputs[2], rows, g.row());
}

inline double group_norm_units(int64_t terms) {
  return 4.0 * (std::sqrt(static_cast<double>(std::min<int64_t>(terms, 1 << 20))) + 8.0) * 0x1p-24;
}

// With m = the mean of |x| over the group, i = 1 / sqrt(variance + eps) and q = 1 + m * i (the growth of an error of
// the mean), the tolerance is relative to m for means, q * i for 1 / sqrt, q * |weight| * i * (|x| + m) + |bias| for y.
inline double tolerance_group_norm(const mk_op& op) {
  const NormGroups g = norm_groups_of(op);
  return group_norm_units(g.pixels * g.each());
}

// The tolerance is relative to the sums of the magnitudes of the terms, where |x| + |mean| stands for x - mean.
inline double tolerance_group_norm_grad(const mk_op& op) {
  const NormGroups g = norm_groups_of(op);
  return group_norm_units(std::max(g.pixels * g.each(), g.pixels * op.inputs[0].rows));
}

inline sdk::Cost cost_group_norm(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return {7 * e, 12 * e};
}

inline sdk::Cost cost_group_norm_grad(const mk_op& op) {
  const double e = static_cast<double>(op.inputs[0].rows) * static_cast<double>(op.inputs[0].columns);
  return op.n_outputs == 3 ? sdk::Cost{16 * e, 20 * e} : sdk::Cost{8 * e, 8 * e};
}

}  // namespace mokume::ops
