#include "call.hpp"
#include "isa/network.hpp"
#include "sdk/ops/loss.hpp"

namespace mokume::host::fast {

void squared_loss(const Call& call) {
  const View<const float> prediction = call.input(0), target = call.input(1);
  const View<const int32_t> index = call.indices(2);
  const View<float> rows = call.output(0);
  const View<float> grad = call.op.n_outputs == 2 ? call.output(1) : View<float>{};
  const int64_t k = prediction.columns;
  const auto factor = static_cast<float>(call.op.reals[0] * 2 / static_cast<double>(k));
  call.for_rows(prediction.rows, 2 * k, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      const float* p = prediction.row(r);
      const float* t = target.row(index.data[r]);
      double sum = 0;
      for (int64_t c = 0; c < k; ++c) {
        const double difference = static_cast<double>(p[c]) - static_cast<double>(t[c]);
        sum += difference * difference;
      }
      rows.row(r)[0] = static_cast<float>(sum / static_cast<double>(k));
      rows.row(r)[1] = 0.0F;
      if (grad.data != nullptr) call.loops.network->scaled_difference(p, t, factor, grad.row(r), k);
    }
  });
}

}  // namespace mokume::host::fast
