#include "loss/loss.hpp"

#include "common/grid.hpp"
#include "loss/general.embed.hpp"
#include "loss/loss.embed.hpp"
#include "loss/loss_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

// A work-item of a CPU takes whole vectors of rows.
RowsLaunch loss_launch(const mk_device& device, const mk_tensor& x) {
  constexpr int64_t kLanes = 16;
  return {device, x.rows, divide_up(512, x.columns * kLanes) * kLanes};
}

const LibraryKernel& loss_kernel(mk_device& device, const char* name) {
  return device.kernel(for_width("losses", kLossLoss, run_width(device)), name);
}

const LibraryKernel& general_kernel(mk_device& device, const char* name) {
  return device.kernel(for_width("general losses", kLossGeneral, run_width(device)), name);
}

// If there is no gradient or there are no rows to choose from, kernels receive other memory, which they do not access.
const mk_tensor& gradient_of(const mk_op& op) { return op.outputs[op.n_outputs == 2 ? 1 : 0]; }
cl_mem targets_of(const mk_op& op) { return memory(op.inputs[sdk::empty(op.inputs[1]) ? 2 : 1]); }

const mk_tensor& weights_of(const mk_op& op) { return op.inputs[op.n_inputs == 4 ? 3 : 0]; }

void general_softmax_loss(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &label = op.inputs[1], &index = op.inputs[2], &out = op.outputs[0],
                  &grad = gradient_of(op), &weights = weights_of(op);
  mk_device& device = launcher.device();
  const RowsLaunch l = loss_launch(device, x);
  launcher.run(general_kernel(device, "softmax_loss_general"), l.range,
               GeneralSoftmaxArgs{.rows = x.rows,
                                  .columns = x.columns,
                                  .rows_each = l.rows_each,
                                  .x = view(x),
                                  .out = view(out),
                                  .grad = view(grad),
                                  .label_offset = label.offset,
                                  .labels = label.columns,
                                  .index_offset = index.offset,
                                  .weight_offset = weights.offset,
                                  .wanted = op.n_outputs == 2 ? 1 : 0,
                                  .weighted = op.n_inputs == 4 ? 1 : 0,
                                  .scale = rounded(op.softmax_loss.scale),
                                  .smoothing = rounded(op.softmax_loss.form.smoothing),
                                  .gamma = rounded(op.softmax_loss.form.gamma),
                                  .per_column = rounded(1 / static_cast<double>(x.columns))},
               {memory(x), targets_of(op), memory(index), memory(weights), memory(out), memory(grad)});
}

void distance_loss(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &target = op.inputs[1], &index = op.inputs[2], &out = op.outputs[0],
                  &grad = gradient_of(op), &weights = weights_of(op);
  mk_device& device = launcher.device();
  const RowsLaunch l = loss_launch(device, x);
  const auto columns = static_cast<double>(x.columns);
  launcher.run(general_kernel(device, "distance_loss"), l.range,
               DistanceLossArgs{.rows = x.rows,
                                .columns = x.columns,
                                .rows_each = l.rows_each,
                                .x = view(x),
                                .target = view(target),
                                .out = view(out),
                                .grad = view(grad),
                                .target_rows = target.rows,
                                .index_offset = index.offset,
                                .weight_offset = weights.offset,
                                .wanted = op.n_outputs == 2 ? 1 : 0,
                                .weighted = op.n_inputs == 4 ? 1 : 0,
                                .distance = static_cast<i32>(op.squared_loss.form.distance),
                                .scale = rounded(op.squared_loss.scale / columns),
                                .delta = rounded(op.squared_loss.form.delta),
                                .per_column = rounded(1 / columns)},
               {memory(x), targets_of(op), memory(index), memory(weights), memory(out), memory(grad)});
}

}  // namespace

void softmax_loss(Launcher& launcher, const mk_op& op) {
  constexpr int64_t kShortRow = 64;  // SHORT_ROW of loss.cl
  const mk_tensor &x = op.inputs[0], &label = op.inputs[1], &index = op.inputs[2], &out = op.outputs[0],
                  &grad = gradient_of(op);
  if (sdk::empty(out)) return;
  if (!ops::is_plain_loss(op)) return general_softmax_loss(launcher, op);
  mk_device& device = launcher.device();
  const RowsLaunch l = loss_launch(device, x);
  const bool by_lanes = uses_vectors(device) && x.columns <= kShortRow;
  launcher.run(loss_kernel(device, by_lanes ? "softmax_loss_short" : "softmax_loss"), l.range,
               SoftmaxLossArgs{.rows = x.rows,
                               .columns = x.columns,
                               .rows_each = l.rows_each,
                               .x = view(x),
                               .out = view(out),
                               .grad = view(grad),
                               .label_offset = label.offset,
                               .labels = label.columns,
                               .index_offset = index.offset,
                               .wanted = op.n_outputs == 2 ? 1 : 0,
                               .scale = rounded(op.softmax_loss.scale)},
               {memory(x), targets_of(op), memory(index), memory(out), memory(grad)});
}

void squared_loss(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &target = op.inputs[1], &index = op.inputs[2], &out = op.outputs[0],
                  &grad = gradient_of(op);
  if (sdk::empty(out)) return;
  if (!ops::is_plain_loss(op)) return distance_loss(launcher, op);
  mk_device& device = launcher.device();
  const RowsLaunch l = loss_launch(device, x);
  const auto columns = static_cast<double>(x.columns);
  launcher.run(loss_kernel(device, "squared_loss"), l.range,
               SquaredLossArgs{.rows = x.rows,
                               .columns = x.columns,
                               .rows_each = l.rows_each,
                               .x = view(x),
                               .target = view(target),
                               .out = view(out),
                               .grad = view(grad),
                               .target_rows = target.rows,
                               .index_offset = index.offset,
                               .wanted = op.n_outputs == 2 ? 1 : 0,
                               .reserved = 0,
                               .mean = rounded(1 / columns),
                               .factor = rounded(2 * op.squared_loss.scale / columns)},
               {memory(x), targets_of(op), memory(index), memory(out), memory(grad)});
}

}  // namespace mokume::opencl
