#include "call.hpp"
#include "reference/activation.hpp"

namespace mokume::host::reference {

void act_grad(const Call& call) {
  const View<const float> grad = call.input(0), y = call.input(1);
  const View<float> dx = call.output();
  const auto activation = call.op.bias_act.activation;
  for (int64_t r = 0; r < grad.rows; ++r)
    for (int64_t c = 0; c < grad.columns; ++c) {
      const float g = grad.row(r)[c], at = y.row(r)[c];
      float& to = dx.row(r)[c];
      if (activation == ops::Activation::none)
        to = g;
      else if (activation == ops::Activation::relu)
        to = at > 0 ? g : 0.0F;
      else
        to = static_cast<float>(static_cast<double>(g) *
                                activation_slope(activation, static_cast<double>(at), call.op.bias_act.slope));
    }
}

}  // namespace mokume::host::reference
