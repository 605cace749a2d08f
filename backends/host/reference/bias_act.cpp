#include "sdk/ops/bias_act.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void bias_act(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const bool relu = call.op.integers[0] == static_cast<int64_t>(ops::Activation::relu);
  const View<const float> biases = call.op.n_inputs == 2 ? call.input(1) : View<const float>();
  for (int64_t r = 0; r < x.rows; ++r) {
    const float* bias = biases.row(biases.rows == 1 ? 0 : r);
    for (int64_t c = 0; c < x.columns; ++c) {
      const float sum = bias == nullptr ? x.row(r)[c] : x.row(r)[c] + bias[c];
      out.row(r)[c] = relu && sum < 0 ? 0.0F : sum;  // written so that a NaN passes through
    }
  }
}

}  // namespace mokume::host::reference
