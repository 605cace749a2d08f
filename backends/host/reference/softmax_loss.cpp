#include <cmath>

#include "call.hpp"

namespace mokume::host::reference {

void softmax_loss(const Call& call) {
  const View<const float> logits = call.input(0);
  const View<const int32_t> label = call.indices(1), index = call.indices(2);
  const View<float> rows = call.output(0);
  const bool wanted = call.op.n_outputs == 2;
  const View<float> grad = wanted ? call.output(1) : View<float>{};
  const double scale = call.op.reals[0];
  for (int64_t r = 0; r < logits.rows; ++r) {
    const float* x = logits.row(r);
    const int64_t k = logits.columns;
    int64_t best = 0;
    bool finite = true;
    for (int64_t c = 0; c < k; ++c) {
      if (x[c] > x[best]) best = c;
      finite = finite && !std::isnan(x[c]);
    }
    const double largest = finite ? static_cast<double>(x[best]) : std::nan("");
    double sum = 0;
    for (int64_t c = 0; c < k; ++c) sum += std::exp(static_cast<double>(x[c]) - largest);
    const int32_t target = label.data[index.data[r]];
    const double target_logit = static_cast<double>(x[target]);
    rows.row(r)[0] = static_cast<float>(std::log(sum) - (target_logit - largest));
    rows.row(r)[1] = finite && best == target ? 1.0F : 0.0F;
    for (int64_t c = 0; wanted && c < k; ++c)
      grad.row(r)[c] =
          static_cast<float>(scale * (std::exp(static_cast<double>(x[c]) - largest) / sum - (c == target ? 1 : 0)));
  }
}

}  // namespace mokume::host::reference
