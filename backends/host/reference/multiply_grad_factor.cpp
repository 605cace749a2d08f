#include "call.hpp"
#include "sdk/ops/multiply.hpp"

namespace mokume::host::reference {

void multiply_grad_factor(const Call& call) {
  const View<const float> grad = call.input(0), x = call.input(1);
  const View<float> out = call.output();
  const int64_t pixels = ops::pixels_each(call.op.inputs[1], call.op.outputs[0]);
  for (int64_t n = 0; n < out.rows; ++n)
    for (int64_t c = 0; c < out.columns; ++c) {
      double sum = 0;
      for (int64_t r = n * pixels; r < (n + 1) * pixels; ++r)
        sum += static_cast<double>(grad.row(r)[c]) * static_cast<double>(x.row(r)[c]);
      out.row(n)[c] = static_cast<float>(sum);
    }
}

}  // namespace mokume::host::reference
