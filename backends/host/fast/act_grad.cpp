#include <algorithm>

#include "call.hpp"
#include "isa/activations.hpp"
#include "isa/network.hpp"
#include "sdk/ops/bias_act.hpp"

namespace mokume::host::fast {

void act_grad(const Call& call) {
  const View<const float> grad = call.input(0), y = call.input(1);
  const View<float> dx = call.output();
  const ops::Activation kind = call.op.bias_act.activation;
  const bool none = kind == ops::Activation::none;
  const bool relu = kind == ops::Activation::relu;
  const auto slope = static_cast<float>(call.op.bias_act.slope);
  if (none && grad.data == dx.data) return;  // in place: the values are already there
  call.for_rows(grad.rows, grad.columns, [&](int64_t from, int64_t to) {
    if (relu)
      return call.loops.network->relu_grad(
          {grad.row(from), y.row(from), dx.row(from), to - from, grad.columns, grad.stride, y.stride, dx.stride});
    if (!none)
      return call.loops.activations->gradient({grad.row(from), y.row(from), dx.row(from), to - from, grad.columns,
                                               grad.stride, y.stride, dx.stride, kind, slope});
    for (int64_t r = from; r < to; ++r) std::copy_n(grad.row(r), grad.columns, dx.row(r));
  });
}

}  // namespace mokume::host::fast
