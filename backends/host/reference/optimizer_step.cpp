#include "sdk/ops/optimizer_step.hpp"

#include <cmath>

#include "call.hpp"

namespace mokume::host::reference {
namespace {

struct Element {
  double weight, state, state2, state3;
};

Element step(const ops::OptimizerSettings& o, double t, double grad, Element e) {
  const double g = o.kind == ops::Optimizer::adamw ? grad : grad + o.weight_decay * e.weight;
  switch (o.kind) {
    case ops::Optimizer::sgd:
      if (o.a == 0) return {e.weight - o.lr * g, 0, 0, 0};
      e.state = t == 1 ? g : o.a * e.state + (1 - o.b) * g;
      e.weight -= o.lr * (o.nesterov != 0 ? g + o.a * e.state : e.state);
      return e;
    case ops::Optimizer::adamw:
      e.weight *= 1 - o.lr * o.weight_decay;
      [[fallthrough]];
    case ops::Optimizer::adam:
      e.state = o.a * e.state + (1 - o.a) * g;
      e.state2 = o.b * e.state2 + (1 - o.b) * g * g;
      if (!(e.state2 <= e.state3)) e.state3 = e.state2;  // a NaN stays
      e.weight -= o.lr / (1 - std::pow(o.a, t)) * e.state /
                  (std::sqrt(o.amsgrad != 0 ? e.state3 : e.state2) / std::sqrt(1 - std::pow(o.b, t)) + o.eps);
      return e;
    case ops::Optimizer::rmsprop: {
      e.state = o.a * e.state + (1 - o.a) * g * g;
      const double d = g / (std::sqrt(e.state) + o.eps);
      e.state2 = o.b * e.state2 + d;
      e.weight -= o.lr * e.state2;
      return e;
    }
    case ops::Optimizer::adadelta: {
      e.state = o.a * e.state + (1 - o.a) * g * g;
      const double d = std::sqrt(e.state2 + o.eps) / std::sqrt(e.state + o.eps) * g;
      e.state2 = o.a * e.state2 + (1 - o.a) * d * d;
      e.weight -= o.lr * d;
      return e;
    }
  }
  return e;
}

// Returns the factor of all gradients. A norm of NaN gives NaN.
double clipping(const Call& call, const ops::OptimizerSettings& o) {
  if (call.op.n_inputs < 2) return 1;
  const double factor = o.clip / (std::sqrt(static_cast<double>(*call.input(1).data)) + 1e-6);
  return factor > 1 ? 1 : factor;
}

}  // namespace

void optimizer_step(const Call& call) {
  const ops::OptimizerSettings settings = ops::optimizer_of(call.op);
  const double factor = clipping(call, settings);
  const float* grad = call.input(0).data;
  float* weight = call.output(0).data;
  float* state = settings.states() > 0 ? call.output(1).data : nullptr;
  float* state2 = settings.states() > 1 ? call.output(2).data : nullptr;
  float* state3 = settings.states() > 2 ? call.output(3).data : nullptr;
  for (int64_t i = 0; i < call.op.inputs[0].columns; ++i) {
    const Element e =
        step(settings, static_cast<double>(call.op.optimizer_step.t), factor * static_cast<double>(grad[i]),
             {static_cast<double>(weight[i]), state != nullptr ? static_cast<double>(state[i]) : 0,
              state2 != nullptr ? static_cast<double>(state2[i]) : 0,
              state3 != nullptr ? static_cast<double>(state3[i]) : 0});
    weight[i] = static_cast<float>(e.weight);
    if (state != nullptr) state[i] = static_cast<float>(e.state);
    if (state2 != nullptr) state2[i] = static_cast<float>(e.state2);
    if (state3 != nullptr) state3[i] = static_cast<float>(e.state3);
  }
}

}  // namespace mokume::host::reference
