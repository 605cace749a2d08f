#include "sdk/ops/optimizer_step.hpp"

#include "call.hpp"
#include "formulas/step_numbers.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {

void optimizer_step(const Call& call) {
  const ops::OptimizerSettings o = ops::optimizer_of(call.op);
  OptimizerRange all{};
  all.grad = call.input(0).data;
  all.norm2 = call.op.n_inputs == 2 ? call.input(1).data : nullptr;
  all.weight = call.output(0).data;
  all.state = o.states() > 0 ? call.output(1).data : nullptr;
  all.state2 = o.states() > 1 ? call.output(2).data : nullptr;
  all.state3 = o.states() > 2 ? call.output(3).data : nullptr;
  all.n = call.op.inputs[0].columns;
  all.kind = o.kind;
  formulas::set_step_numbers(o, call.op.optimizer_step.t, all.numbers);
  call.for_rows(all.n, 1, [&](int64_t from, int64_t to) {
    OptimizerRange range = all;
    range.grad += from;
    range.weight += from;
    if (range.state != nullptr) range.state += from;
    if (range.state2 != nullptr) range.state2 += from;
    if (range.state3 != nullptr) range.state3 += from;
    range.n = to - from;
    call.loops.network->optimizer(range);
  });
}

}  // namespace mokume::host::fast
