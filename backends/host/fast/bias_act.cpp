#include "sdk/ops/bias_act.hpp"

#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {

void bias_act(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  View<const float> bias = call.op.n_inputs == 2 ? call.input(1) : View<const float>();
  if (bias.rows <= 1) bias.stride = 0;
  const bool relu = call.op.integers[0] == static_cast<int64_t>(ops::Activation::relu);
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    call.loops.network->bias_act(
        {x.row(from), bias.row(from), out.row(from), to - from, x.columns, x.stride, out.stride, relu, bias.stride});
  });
}

}  // namespace mokume::host::fast
