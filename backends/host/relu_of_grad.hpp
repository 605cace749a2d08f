// Passes the gradient that an op computed through a relu.
#pragma once

#include "call.hpp"
#include "sdk/ops/bias_act.hpp"

namespace mokume::host {
namespace reference {
void act_grad(const Call& call);
}
namespace fast {
void act_grad(const Call& call);
}

// Sets elements of the output to 0 where the op's input x, if there is one, is not above 0.
inline void through_relu(const Call& call, OpFunction act_grad) {
  const mk_tensor &dx = call.op.outputs[0], *x = ops::relu_of_grad(call.op);
  if (x == nullptr || sdk::empty(dx)) return;
  const mk_op op = ops::act_grad(dx, *x, ops::Activation::relu, dx);
  act_grad(call.with(op));
}

}  // namespace mokume::host
