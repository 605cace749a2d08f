#include "optimizer/optimizer.hpp"

#include "common/grid.hpp"
#include "formulas/step_numbers.hpp"
#include "optimizer/optimizer.embed.hpp"
#include "optimizer/optimizer_args.h"
#include "sdk/ops.hpp"

namespace mokume::opencl {
namespace {

const char* kernel_of(const ops::OptimizerSettings& o) {
  switch (o.kind) {
    case ops::Optimizer::sgd:
      return o.states() == 0 ? "sgd" : "sgd_momentum";
    case ops::Optimizer::adam:
    case ops::Optimizer::adamw:
      return o.amsgrad != 0 ? "amsgrad" : "adam";
    case ops::Optimizer::rmsprop:
      return o.states() == 1 ? "rmsprop" : "rmsprop_momentum";
    case ops::Optimizer::adadelta:
      return "adadelta";
  }
  return "";
}

}  // namespace

void optimizer_step(Launcher& launcher, const mk_op& op) {
  const mk_tensor &grad = op.inputs[0], &weight = op.outputs[0], &state = op.outputs[1], &state2 = op.outputs[2],
                  &state3 = op.outputs[3];
  if (sdk::empty(weight)) return;
  const ops::OptimizerSettings o = ops::optimizer_of(op);
  const mk_tensor& norm2 = op.inputs[op.n_inputs == 2 ? 1 : 0];
  mk_device& device = launcher.device();
  const RunLaunch l(device, 1, weight.columns);
  const LibraryKernel& kernel =
      device.kernel(for_views(device, "optimizer", kOptimizerOptimizer, run_width(device, weight.columns),
                              {view(grad), view(weight), view(state), view(state2), view(state3)}),
                    kernel_of(o));
  OptimizerArgs args{};
  args.grid = l.grid;
  args.grad_offset = grad.offset;
  args.norm2_offset = norm2.offset;
  args.weight_offset = weight.offset;
  args.state_offset = state.offset;
  args.state2_offset = state2.offset;
  args.state3_offset = state3.offset;
  formulas::set_step_numbers(o, op.optimizer_step.t, args);
  switch (o.states()) {
    case 0:
      return launcher.run(kernel, l.range, args, {memory(grad), memory(norm2), memory(weight)});
    case 1:
      return launcher.run(kernel, l.range, args, {memory(grad), memory(norm2), memory(weight), memory(state)});
    case 2:
      return launcher.run(kernel, l.range, args,
                          {memory(grad), memory(norm2), memory(weight), memory(state), memory(state2)});
    default:
      return launcher.run(kernel, l.range, args,
                          {memory(grad), memory(norm2), memory(weight), memory(state), memory(state2), memory(state3)});
  }
}

}  // namespace mokume::opencl
