#include <cmath>

#include "call.hpp"
#include "sdk/ops/loss.hpp"

namespace mokume::host::reference {
namespace {

struct Term {
  double loss, slope;
};

Term term_of(double d, ops::Distance distance, double delta) {
  const double size = std::fabs(d);
  if (std::isnan(d)) return {d, d};
  switch (distance) {
    case ops::Distance::huber:
      return size <= delta ? Term{d * d / 2, d} : Term{delta * (size - delta / 2), std::copysign(delta, d)};
    case ops::Distance::smooth_l1:
      if (size < delta) return {d * d / (2 * delta), d / delta};
      return {size - delta / 2, d == 0 ? 0 : std::copysign(1, d)};
    default:
      return {d * d, 2 * d};
  }
}

}  // namespace

void squared_loss(const Call& call) {
  const View<const float> prediction = call.input(0), target = call.input(1);
  const View<const int32_t> index = call.indices(2);
  const View<float> rows = call.output(0);
  const bool wanted = call.op.n_outputs == 2, weighted = call.op.n_inputs == 4;
  const View<float> grad = wanted ? call.output(1) : View<float>{};
  const double scale = call.op.squared_loss.scale;
  const auto [distance, delta] = call.op.squared_loss.form;
  const auto columns = static_cast<double>(prediction.columns);
  for (int64_t r = 0; r < prediction.rows; ++r) {
    const float* t = target.row(index.data[r]);
    const double weight = weighted ? static_cast<double>(call.input(3).data[index.data[r]]) : 1;
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < prediction.columns; ++c) {
      const double difference = static_cast<double>(prediction.row(r)[c]) - static_cast<double>(t[c]);
      const Term term = term_of(difference, distance, delta);
      sum += term.loss;
      squares += difference * difference;
      if (wanted) grad.row(r)[c] = static_cast<float>(scale * weight * term.slope / columns);
    }
    rows.row(r)[0] = static_cast<float>(weight * sum / columns);
    rows.row(r)[1] = ops::is_plain_loss(call.op) ? 0.0F : static_cast<float>(squares / columns);
  }
}

}  // namespace mokume::host::reference
