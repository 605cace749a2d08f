#include "isa/formulas.hpp"
#include "isa/independent.hpp"

namespace mokume::host::MOKUME_HOST_ISA {

void optimizer(const OptimizerRange& range);

namespace {

// Takes steps of a rule that uses this number of states.
template <int states, class Rule>
void take_steps(const OptimizerRange& range, const Rule& rule) {
  const StepNumbers o = range.numbers;
  const float factor = range.norm2 != nullptr ? clipping(*range.norm2, o.clip) : 1.0F;
  const float* grad = range.grad;
  float *weight = range.weight, *state = range.state, *state2 = range.state2, *state3 = range.state3;
  MOKUME_INDEPENDENT
  for (int64_t i = 0; i < range.n; ++i) {
    Step at = {weight[i], 0.0F, 0.0F, 0.0F};
    if constexpr (states > 0) at.state = state[i];
    if constexpr (states > 1) at.state2 = state2[i];
    if constexpr (states > 2) at.state3 = state3[i];
    at = rule(o, gradient_of(o, grad[i], factor, at.weight), at);
    weight[i] = at.weight;
    if constexpr (states > 0) state[i] = at.state;
    if constexpr (states > 1) state2[i] = at.state2;
    if constexpr (states > 2) state3[i] = at.state3;
  }
}

// Passes a function of formulas/optimizer.cl in a form that compilers inline.
#define RULE(step) [](const StepNumbers& o, float g, Step at) { return step(o, g, at); }

void momentum(const OptimizerRange& range) {
  // With constants in place of these numbers, compilers leave out what they decide.
  if (range.numbers.first != 0)
    return take_steps<1>(range, [](StepNumbers o, float g, Step at) {
      o.first = 1;
      return momentum_step(o, g, at);
    });
  take_steps<1>(range, [](StepNumbers o, float g, Step at) {
    o.first = 0;
    return momentum_step(o, g, at);
  });
}

}  // namespace

void optimizer(const OptimizerRange& range) {
  switch (range.kind) {
    case mk_optimizer::sgd:
      return range.state == nullptr ? take_steps<0>(range, RULE(sgd_step)) : momentum(range);
    case mk_optimizer::adam:
    case mk_optimizer::adamw:
      return range.state3 == nullptr ? take_steps<2>(range, RULE(adam_step)) : take_steps<3>(range, RULE(amsgrad_step));
    case mk_optimizer::rmsprop:
      return range.state2 == nullptr ? take_steps<1>(range, RULE(rmsprop_step))
                                     : take_steps<2>(range, RULE(rmsprop_momentum_step));
    default:
      return take_steps<2>(range, RULE(adadelta_step));
  }
}

}  // namespace mokume::host::MOKUME_HOST_ISA
