#include <cmath>

#include "call.hpp"
#include "isa/network.hpp"
#include "sdk/ops/loss.hpp"

namespace mokume::host::fast {
namespace {

// Returns the loss of one difference, and stores the derivative in `slope`.
double loss_of(double d, ops::Distance distance, double delta, double* slope) {
  const double size = std::fabs(d);
  *slope = d;
  switch (distance) {
    case ops::Distance::huber:
      if (!(size > delta)) return d * d / 2;
      *slope = std::copysign(delta, d);
      return delta * (size - delta / 2);
    case ops::Distance::smooth_l1:
      if (!(size >= delta)) {
        *slope = d / delta;
        return d * d / (2 * delta);
      }
      *slope = d == 0 ? 0 : std::copysign(1, d);
      return size - delta / 2;
    default:
      *slope = 2 * d;
      return d * d;
  }
}

// Computes one row in doubles, because a row has few targets.
void general(const Call& call, const View<const float>& prediction, const View<const float>& target, int64_t r) {
  const int32_t chosen = call.indices(2).data[r];
  const auto [distance, delta] = call.op.squared_loss.form;
  const double weight = call.op.n_inputs == 4 ? static_cast<double>(call.input(3).data[chosen]) : 1;
  const double columns = static_cast<double>(prediction.columns),
               factor = call.op.squared_loss.scale * weight / columns;
  float* grad = call.op.n_outputs == 2 ? call.output(1).row(r) : nullptr;
  double sum = 0, squares = 0;
  for (int64_t c = 0; c < prediction.columns; ++c) {
    const double d = static_cast<double>(prediction.row(r)[c]) - static_cast<double>(target.row(chosen)[c]);
    double slope = 0;
    sum += loss_of(d, distance, delta, &slope);
    squares += d * d;
    if (grad != nullptr) grad[c] = static_cast<float>(factor * slope);
  }
  call.output(0).row(r)[0] = static_cast<float>(weight * sum / columns);
  call.output(0).row(r)[1] = static_cast<float>(squares / columns);
}

}  // namespace

void squared_loss(const Call& call) {
  const View<const float> prediction = call.input(0), target = call.input(1);
  const View<const int32_t> index = call.indices(2);
  const View<float> rows = call.output(0);
  const View<float> grad = call.op.n_outputs == 2 ? call.output(1) : View<float>{};
  const int64_t k = prediction.columns;
  const bool plain = ops::is_plain_loss(call.op);
  const auto factor = static_cast<float>(call.op.squared_loss.scale * 2 / static_cast<double>(k));
  call.for_rows(prediction.rows, 2 * k, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      if (!plain) {
        general(call, prediction, target, r);
        continue;
      }
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
