#include "sdk/ops/linear_update.hpp"

#include "call.hpp"

namespace mokume::host::reference {

// Computes fp64 sums in ascending order, each rounded once, as gemm, gemm and optimizer_step do in sequence.
void linear_update(const Call& call) {
  const View<const float> x = call.input(0), dy = call.input(1);
  const View<float> weight = call.output(0), state = call.output(1), dx = call.output(2);
  const bool after_relu = call.op.linear_update.after_relu == 1;
  const ops::OptimizerSettings o = ops::linear_update_settings(call.op);
  for (int64_t i = 0; i < weight.rows; ++i) {
    double inputs[ops::kLinearUpdateRows];  // dx may alias x
    for (int64_t b = 0; b < x.rows; ++b) inputs[b] = static_cast<double>(x.row(b)[i]);
    if (dx.columns > 0)
      for (int64_t b = 0; b < dx.rows; ++b) {
        double sum = 0;
        for (int64_t j = 0; j < weight.columns; ++j)
          sum += static_cast<double>(dy.row(b)[j]) * static_cast<double>(weight.row(i)[j]);
        dx.row(b)[i] = after_relu && !(inputs[b] > 0) ? 0 : static_cast<float>(sum);
      }
    for (int64_t j = 0; j < weight.columns; ++j) {
      double sum = 0;
      for (int64_t b = 0; b < x.rows; ++b) sum += inputs[b] * static_cast<double>(dy.row(b)[j]);
      const double w = weight.row(i)[j], g = static_cast<double>(static_cast<float>(sum)) + o.weight_decay * w;
      double s = g;
      if (o.states() > 0) {
        if (call.op.linear_update.t > 1) s = o.a * static_cast<double>(state.row(i)[j]) + g;
        state.row(i)[j] = static_cast<float>(s);
      }
      weight.row(i)[j] = static_cast<float>(w - o.lr * s);
    }
  }
}

}  // namespace mokume::host::reference
