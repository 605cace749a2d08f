#include "softmax/softmax.hpp"

#include "common/grid.hpp"
#include "sdk/ops.hpp"
#include "softmax/softmax.embed.hpp"
#include "softmax/softmax_args.h"

namespace mokume::opencl {
namespace {

const LibraryKernel& softmax_kernel(mk_device& device, const char* name) {
  return device.kernel(for_width(device, "softmax", kSoftmaxSoftmax, run_width(device)), name);
}

// A work-item does a few rows on CPUs, and one row on GPUs.
struct RowsLaunch {
  RowsLaunch(const mk_device& device, const mk_tensor& x) {
    if (uses_vectors(device)) rows_each = divide_up(4096, x.columns);
    range = {{divide_up(x.rows, rows_each), 1, 1}, {uses_vectors(device) ? 1 : 32, 1, 1}};
  }
  int64_t rows_each = 1;
  Range range{};
};

}  // namespace

void softmax(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const RowsLaunch l(device, x);
  launcher.run(softmax_kernel(device, "softmax"), l.range,
               SoftmaxArgs{.rows = x.rows,
                           .columns = x.columns,
                           .rows_each = l.rows_each,
                           .x = view(x),
                           .grad = view(x),
                           .out = view(out)},
               {memory(x), memory(out)});
}

void softmax_grad(Launcher& launcher, const mk_op& op) {
  const mk_tensor &grad = op.inputs[0], &y = op.inputs[1], &dx = op.outputs[0];
  if (sdk::empty(dx)) return;
  mk_device& device = launcher.device();
  const RowsLaunch l(device, y);
  launcher.run(softmax_kernel(device, "softmax_grad"), l.range,
               SoftmaxArgs{.rows = y.rows,
                           .columns = y.columns,
                           .rows_each = l.rows_each,
                           .x = view(y),
                           .grad = view(grad),
                           .out = view(dx)},
               {memory(grad), memory(y), memory(dx)});
}

}  // namespace mokume::opencl
