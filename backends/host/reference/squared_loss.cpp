#include "call.hpp"

namespace mokume::host::reference {

void squared_loss(const Call& call) {
  const View<const float> prediction = call.input(0), target = call.input(1);
  const View<const int32_t> index = call.indices(2);
  const View<float> rows = call.output(0);
  const bool wanted = call.op.n_outputs == 2;
  const View<float> grad = wanted ? call.output(1) : View<float>{};
  const double scale = call.op.reals[0];
  const auto columns = static_cast<double>(prediction.columns);
  for (int64_t r = 0; r < prediction.rows; ++r) {
    const float* t = target.row(index.data[r]);
    double sum = 0;
    for (int64_t c = 0; c < prediction.columns; ++c) {
      const double difference = static_cast<double>(prediction.row(r)[c]) - static_cast<double>(t[c]);
      sum += difference * difference;
      if (wanted) grad.row(r)[c] = static_cast<float>(scale * 2 * difference / columns);
    }
    rows.row(r)[0] = static_cast<float>(sum / columns);
    rows.row(r)[1] = 0.0F;
  }
}

}  // namespace mokume::host::reference
