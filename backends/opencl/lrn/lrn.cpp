#include "lrn/lrn.hpp"

#include "common/grid.hpp"
#include "lrn/lrn.embed.hpp"
#include "lrn/lrn_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

const LibraryKernel& lrn_kernel(mk_device& device, const char* name, int64_t columns) {
  return device.kernel(for_width("lrn", kLrnLrn, run_width(device, columns)), name);
}

LrnArgs lrn_args(const mk_op& op, const RunLaunch& launch, const mk_tensor& grad, const mk_tensor& x) {
  const ops::Lrn& lrn = op.lrn;
  return {.grid = launch.grid,
          .grad = view(grad),
          .x = view(x),
          .out = view(op.outputs[0]),
          .before = narrow(ops::lrn_before(lrn)),
          .after = narrow(ops::lrn_after(lrn)),
          .share = rounded(lrn.alpha / static_cast<double>(lrn.size)),
          .beta = rounded(lrn.beta),
          .bias = rounded(lrn.bias),
          .reserved = 0};
}

}  // namespace

void lrn(Launcher& launcher, const mk_op& op) {
  const mk_tensor &x = op.inputs[0], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const RunLaunch l(launcher.device(), out.rows, out.columns);
  launcher.run(lrn_kernel(launcher.device(), "lrn", out.columns), l.range, lrn_args(op, l, x, x),
               {memory(x), memory(out)});
}

void lrn_grad(Launcher& launcher, const mk_op& op) {
  const mk_tensor &grad = op.inputs[0], &x = op.inputs[1], &out = op.outputs[0];
  if (sdk::empty(out)) return;
  const RunLaunch l(launcher.device(), out.rows, out.columns);
  launcher.run(lrn_kernel(launcher.device(), "lrn_grad", out.columns), l.range, lrn_args(op, l, grad, x),
               {memory(grad), memory(x), memory(out)});
}

}  // namespace mokume::opencl
