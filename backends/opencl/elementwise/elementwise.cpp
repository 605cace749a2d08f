#include "elementwise/elementwise.hpp"

#include "common/grid.hpp"
#include "elementwise/elementwise.embed.hpp"
#include "elementwise/elementwise_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

const LibraryKernel& elementwise_kernel(mk_device& device, const char* name, const mk_tensor& out,
                                        std::initializer_list<View> views) {
  const int width = run_width(device, out.columns);
  return device.kernel(for_views(device, "elementwise", kElementwiseElementwise, width, views), name);
}

void run_fill(Launcher& launcher, const char* name, const mk_tensor& out, float value) {
  if (sdk::empty(out)) return;
  const RunLaunch l(launcher.device(), out.rows, out.columns);
  launcher.run(elementwise_kernel(launcher.device(), name, out, {view(out)}), l.range,
               FillArgs{.grid = l.grid, .out = view(out), .value = value, .reserved = 0}, {memory(out)});
}

}  // namespace

void fill(Launcher& launcher, const mk_op& op) {
  run_fill(launcher, "fill", op.outputs[0], static_cast<float>(op.fill.value));
}

void scale(Launcher& launcher, const mk_tensor& view, float keep) { run_fill(launcher, "scale", view, keep); }

void kernel_map(Launcher& launcher, const mk_op& op) {
  const mk_tensor &dot = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const mk_kernel_map& f = op.kernel_map;
  const bool norms = ops::needs_norms(f.kind);
  // An argument must be a buffer even if this kind does not read it.
  const mk_tensor &norm_x = norms ? op.inputs[1] : dot, &norm_y = norms ? op.inputs[2] : dot;
  const RunLaunch l(launcher.device(), out.rows, out.columns);
  launcher.run(
      elementwise_kernel(launcher.device(), "kernel_map", out, {view(dot), view(out), {norms ? norm_y.offset : 0, 0}}),
      l.range,
      KernelMapArgs{.grid = l.grid,
                    .dot = view(dot),
                    .out = view(out),
                    .norm_x_offset = norm_x.offset,
                    .norm_y_offset = norm_y.offset,
                    .kind = static_cast<i32>(f.kind),
                    .degree = static_cast<i32>(f.degree),
                    .gamma = static_cast<float>(f.gamma),
                    .coef0 = static_cast<float>(f.coef0)},
      {memory(dot), memory(norm_x), memory(norm_y), memory(out)});
}

void gather_rows(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &index = op.inputs[1], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const RunLaunch l(launcher.device(), out.rows, out.columns);
  // If x has no rows, every index is out of range.
  launcher.run(
      elementwise_kernel(launcher.device(), "gather_rows", out, {view(x), view(out)}), l.range,
      GatherRowsArgs{.grid = l.grid, .x = view(x), .out = view(out), .x_rows = x.rows, .index_offset = index.offset},
      {memory(sdk::empty(x) ? out : x), memory(index), memory(out)});
}

}  // namespace mokume::opencl
