#include "multiply/multiply.hpp"

#include "common/grid.hpp"
#include "multiply/multiply.embed.hpp"
#include "multiply/multiply_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

// Returns a kernel over rows of `columns` elements of these views, which divides counts of at most `rows`.
const LibraryKernel& multiply_kernel(mk_device& device, const char* name, int64_t columns, int64_t rows,
                                     std::initializer_list<View> views) {
  return device.kernel(for_views(device, "multiply", kMultiplyMultiply, run_width(device, columns), views, rows), name);
}

}  // namespace

void multiply(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &factor = op.inputs[1], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const RunLaunch l(device, out.rows, out.columns);
  launcher.run(multiply_kernel(device, "multiply", out.columns, out.rows, {view(x), view(factor), view(out)}), l.range,
               MultiplyArgs{.grid = l.grid,
                            .x = view(x),
                            .factor = view(factor),
                            .out = view(out),
                            .pixels = ops::pixels_each(x, factor)},
               {memory(x), memory(factor), memory(out)});
}

void multiply_grad_factor(Launcher& launcher, const mk_op& op) {
  const mk_tensor &grad = op.inputs[0], &x = op.inputs[1], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const RunLaunch l(device, out.rows, out.columns);
  launcher.run(
      multiply_kernel(device, "multiply_grad_factor", out.columns, x.rows, {view(grad), view(x), view(out)}), l.range,
      FactorGradArgs{
          .grid = l.grid, .grad = view(grad), .x = view(x), .out = view(out), .pixels = ops::pixels_each(x, out)},
      {memory(grad), memory(x), memory(out)});
}

}  // namespace mokume::opencl
