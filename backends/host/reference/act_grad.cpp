#include "sdk/ops/bias_act.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void act_grad(const Call& call) {
  const View<const float> grad = call.input(0), y = call.input(1);
  const View<float> dx = call.output();
  const bool relu = call.op.integers[0] == static_cast<int64_t>(ops::Activation::relu);
  for (int64_t r = 0; r < grad.rows; ++r)
    for (int64_t c = 0; c < grad.columns; ++c) dx.row(r)[c] = !relu || y.row(r)[c] > 0 ? grad.row(r)[c] : 0.0F;
}

}  // namespace mokume::host::reference
