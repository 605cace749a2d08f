#include "norm/group_norm.hpp"

#include "common/grid.hpp"
#include "norm/group_norm.embed.hpp"
#include "norm/group_norm_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

enum { kGroupPartsSlot, kGroupLinesSlot };

class GroupNormLaunches {
 public:
  GroupNormLaunches(Launcher& launcher, const mk_op& op)
      : launcher_(launcher), device_(launcher.device()), g_(ops::norm_groups_of(op)), rows_(op.inputs[0].rows) {}

  GroupNormArgs args(const mk_tensor& x, const mk_tensor& dy, const mk_tensor& moments) const {
    return {.x = view(x),
            .dy = view(dy),
            .moments = view(moments),
            .rows = rows_,
            .pixels = g_.pixels,
            .weight_offset = 0,
            .bias_offset = 0,
            .channels = narrow(g_.channels),
            .groups = narrow(g_.groups),
            .each = narrow(g_.each()),
            .eps = 0};
  }
  // Returns memory for `lines` lines of channels for each row.
  cl_mem workspace(size_t slot, int64_t lines) {
    return launcher_.queue().workspace(slot, rows_ * lines * g_.channels);
  }

  // Runs one work-item for each vector of channels of each row.
  template <class Args>
  void rows_by_channels(const char* name, const Args& args, std::initializer_list<cl_mem> buffers) {
    const int width = channel_width(device_, g_.channels);
    launcher_.run(kernel(name, width, {args.x, args.dy}),
                  {{rows_ * divide_up(g_.channels, width), 1, 1}, {group(), 1, 1}}, args, buffers);
  }
  template <class Args>
  void items(const char* name, int64_t count, const Args& args, std::initializer_list<cl_mem> buffers) {
    launcher_.run(kernel(name, 1, {}), {{count, 1, 1}, {group(), 1, 1}}, args, buffers);
  }
  void by_lines(const char* name, const mk_tensor& x, const mk_tensor& dy, const mk_tensor& out,
                std::initializer_list<cl_mem> buffers) {
    const RunLaunch l(device_, rows_ * g_.pixels, g_.channels);
    const View lines{0, g_.channels};  // the coefficients
    launcher_.run(kernel(name, row_width(device_, g_.channels), {view(x), view(dy), view(out), lines}), l.range,
                  GroupApplyArgs{.grid = l.grid, .x = view(x), .dy = view(dy), .out = view(out), .pixels = g_.pixels},
                  buffers);
  }

  const ops::NormGroups& groups() const { return g_; }
  int64_t rows() const { return rows_; }

 private:
  const LibraryKernel& kernel(const char* name, int width, std::initializer_list<View> views) {
    const int64_t most = rows_ * g_.pixels * g_.channels;
    return device_.kernel(for_views(device_, "group_norm", kNormGroupNorm, width, views, most), name);
  }
  int64_t group() const { return uses_vectors(device_) ? 1 : 64; }

  Launcher& launcher_;
  mk_device& device_;
  const ops::NormGroups g_;
  const int64_t rows_;
};

}  // namespace

void group_norm(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &weight = op.inputs[1], &bias = op.inputs[2];
  const mk_tensor &y = op.outputs[0], &moments = op.outputs[1];
  if (sdk::empty(x)) return;
  GroupNormLaunches norm(launcher, op);
  GroupNormArgs args = norm.args(x, x, moments);
  args.weight_offset = weight.offset;
  args.bias_offset = bias.offset;
  args.eps = static_cast<f32>(op.group_norm.eps);
  const cl_mem parts = norm.workspace(kGroupPartsSlot, 2), scales = norm.workspace(kGroupLinesSlot, 2);
  if (norm.groups().pixels > 1) norm.rows_by_channels("group_parts", args, {memory(x), parts});
  norm.items("group_moments", norm.rows() * norm.groups().groups, args, {memory(x), parts, memory(moments)});
  norm.items("group_scales", norm.rows() * norm.groups().channels, args,
             {memory(moments), memory(weight), memory(bias), scales});
  norm.by_lines("group_apply", x, x, y, {memory(x), scales, memory(y)});
}

void group_norm_grad(Launcher& launcher, const mk_op& op) {
  const mk_tensor &dy = op.inputs[0], &x = op.inputs[1], &weight = op.inputs[2], &moments = op.inputs[3];
  const mk_tensor &dweight = op.outputs[0], &dbias = op.outputs[1];
  GroupNormLaunches norm(launcher, op);
  const ops::NormGroups& g = norm.groups();
  GroupNormArgs args = norm.args(x, dy, moments);
  args.weight_offset = weight.offset;
  const cl_mem parts = norm.workspace(kGroupPartsSlot, 2);
  if (norm.rows() > 0) norm.rows_by_channels("group_products", args, {memory(dy), memory(x), memory(moments), parts});
  norm.items("group_columns", g.channels,
             GroupColumnsArgs{.rows = norm.rows(),
                              .dweight_offset = dweight.offset,
                              .dbias_offset = dbias.offset,
                              .moments = view(moments),
                              .channels = narrow(g.channels),
                              .groups = narrow(g.groups),
                              .each = narrow(g.each()),
                              .reserved = 0},
             {parts, memory(moments), memory(dweight), memory(dbias)});
  if (op.n_outputs < 3 || norm.rows() == 0) return;
  const mk_tensor& dx = op.outputs[2];
  const cl_mem coefficients = norm.workspace(kGroupLinesSlot, 3);
  norm.items("group_coefficients", norm.rows() * g.groups, args,
             {parts, memory(moments), memory(weight), coefficients});
  norm.by_lines("group_grad", x, dy, dx, {memory(dy), memory(x), coefficients, memory(dx)});
}

}  // namespace mokume::opencl
