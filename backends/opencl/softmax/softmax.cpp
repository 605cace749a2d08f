#include "softmax/softmax.hpp"

#include "common/grid.hpp"
#include "sdk/ops.hpp"
#include "softmax/softmax.embed.hpp"
#include "softmax/softmax_args.h"

namespace mokume::opencl {
namespace {

const LibraryKernel& softmax_kernel(mk_device& device, const char* name) {
  return device.kernel(for_width("softmax", kSoftmaxSoftmax, run_width(device)), name);
}

RowsLaunch softmax_launch(const mk_device& device, const mk_tensor& x) {
  return {device, x.rows, divide_up(4096, x.columns)};
}

}  // namespace

void softmax(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  mk_device& device = launcher.device();
  const RowsLaunch l = softmax_launch(device, x);
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
  const RowsLaunch l = softmax_launch(device, y);
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
