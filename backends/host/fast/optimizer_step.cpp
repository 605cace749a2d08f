#include "sdk/ops/optimizer_step.hpp"

#include <cmath>

#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {

// Computes terms that all elements share in double and rounds them once: in float, 1 - b would lose half its digits.
void optimizer_step(const Call& call) {
  const ops::OptimizerSettings o = ops::optimizer_of(call.op);
  const bool adam = o.is_adam(), decoupled = o.kind == ops::Optimizer::adamw;
  const double t = static_cast<double>(call.op.optimizer_step.t);
  OptimizerRange all{};
  all.grad = call.input(0).data;
  all.weight = call.output(0).data;
  all.state = o.states() > 0 ? call.output(1).data : nullptr;
  all.state2 = o.states() > 1 ? call.output(2).data : nullptr;
  all.state3 = o.states() > 2 ? call.output(3).data : nullptr;
  all.n = call.op.inputs[0].columns;
  all.kind = o.kind;
  all.first = call.op.optimizer_step.t == 1;
  all.lr = static_cast<float>(adam ? o.lr / (1 - std::pow(o.a, t)) : o.lr);
  all.weight_decay = static_cast<float>(decoupled ? 0 : o.weight_decay);
  all.shrink = static_cast<float>(decoupled ? 1 - o.lr * o.weight_decay : 1);
  all.nesterov = o.nesterov != 0;
  all.a = static_cast<float>(o.a);
  all.one_minus_a = static_cast<float>(1 - o.a);
  all.b = static_cast<float>(o.b);
  all.one_minus_b = static_cast<float>(1 - o.b);
  all.eps = static_cast<float>(o.eps);
  all.scale = static_cast<float>(adam ? 1 / std::sqrt(1 - std::pow(o.b, t)) : 1.0);
  all.factor = 1;
  if (call.op.n_inputs == 2) {
    const double factor = o.clip / (std::sqrt(static_cast<double>(*call.input(1).data)) + 1e-6);
    all.factor = static_cast<float>(factor > 1 ? 1 : factor);  // a norm of NaN gives NaN
  }
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
