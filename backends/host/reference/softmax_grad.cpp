#include "call.hpp"
#include "sdk/ops/softmax.hpp"

namespace mokume::host::reference {

void softmax_grad(const Call& call) {
  const View<const float> grad = call.input(0), y = call.input(1);
  const View<float> dx = call.output();
  for (int64_t r = 0; r < y.rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < y.columns; ++c)
      sum += static_cast<double>(grad.row(r)[c]) * static_cast<double>(y.row(r)[c]);
    for (int64_t c = 0; c < y.columns; ++c)
      dx.row(r)[c] = static_cast<float>(static_cast<double>(y.row(r)[c]) * (static_cast<double>(grad.row(r)[c]) - sum));
  }
}

}  // namespace mokume::host::reference
