#include "call.hpp"
#include "reference/activation.hpp"

namespace mokume::host::reference {

void bias_act(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const auto activation = call.op.bias_act.activation;
  const View<const float> biases = call.op.n_inputs == 2 ? call.input(1) : View<const float>();
  for (int64_t r = 0; r < x.rows; ++r) {
    const float* bias = biases.row(biases.rows == 1 ? 0 : r);
    for (int64_t c = 0; c < x.columns; ++c) {
      const float sum = bias == nullptr ? x.row(r)[c] : x.row(r)[c] + bias[c];
      float& to = out.row(r)[c];
      if (activation == ops::Activation::none)
        to = sum;
      else if (activation == ops::Activation::relu)
        to = sum < 0 ? 0.0F : sum;  // this form lets a NaN pass through
      else
        to = static_cast<float>(activated(activation, static_cast<double>(sum), call.op.bias_act.slope));
    }
  }
}

}  // namespace mokume::host::reference
