#include "sdk/ops/bias_act.hpp"

#include "call.hpp"
#include "isa/activations.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {

void bias_act(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  View<const float> bias = call.op.n_inputs == 2 ? call.input(1) : View<const float>();
  if (bias.rows <= 1) bias.stride = 0;
  const ops::Activation kind = call.op.bias_act.activation;
  const bool relu = kind == ops::Activation::relu;
  const bool simple = relu || kind == ops::Activation::none;
  const auto slope = static_cast<float>(call.op.bias_act.slope);
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    if (simple)
      return call.loops.network->bias_act(
          {x.row(from), bias.row(from), out.row(from), to - from, x.columns, x.stride, out.stride, relu, bias.stride});
    call.loops.activations->activate({x.row(from), bias.row(from), out.row(from), to - from, x.columns, x.stride,
                                      out.stride, bias.stride, kind, slope});
  });
}

}  // namespace mokume::host::fast
