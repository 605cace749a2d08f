#include <cmath>

#include "call.hpp"

namespace mokume::host::reference {
namespace {

// Holds the focal loss and the factor of the gradient (sdk/ops/loss.hpp).
struct Focal {
  double loss, factor;
};

Focal focal(double loss, double gamma) {
  if (gamma == 0) return {loss, 1};
  const double p = std::exp(-loss), rest = -std::expm1(-loss);
  if (rest <= 0) return {0, 0};
  const double power = std::pow(rest, gamma);
  return {power * loss, power + (p > 0 ? gamma * power / rest * p * loss : 0)};
}

}  // namespace

void softmax_loss(const Call& call) {
  const View<const float> logits = call.input(0);
  const View<const int32_t> label = call.indices(1), index = call.indices(2);
  const View<float> rows = call.output(0);
  const bool wanted = call.op.n_outputs == 2, weighted = call.op.n_inputs == 4;
  const View<float> grad = wanted ? call.output(1) : View<float>{};
  const double scale = call.op.softmax_loss.scale;
  const auto [smoothing, gamma] = call.op.softmax_loss.form;
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
    const double weight = weighted ? static_cast<double>(call.input(3).data[index.data[r]]) : 1;
    const double share = smoothing / static_cast<double>(k);
    double loss = std::log(sum) - (static_cast<double>(x[target]) - largest);
    if (smoothing > 0) {
      double others = 0;
      for (int64_t c = 0; c < k; ++c) others += std::log(sum) - (static_cast<double>(x[c]) - largest);
      loss = (1 - smoothing) * loss + share * others;
    }
    const Focal f = focal(loss, gamma);
    rows.row(r)[0] = static_cast<float>(weight * f.loss);
    rows.row(r)[1] = finite && best == target ? 1.0F : 0.0F;
    for (int64_t c = 0; wanted && c < k; ++c) {
      const double wish = (c == target ? 1 - smoothing : 0) + share;
      grad.row(r)[c] =
          static_cast<float>(scale * weight * f.factor * (std::exp(static_cast<double>(x[c]) - largest) / sum - wish));
    }
  }
}

}  // namespace mokume::host::reference
