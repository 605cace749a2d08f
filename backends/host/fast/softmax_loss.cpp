#include <algorithm>
#include <cmath>

#include "call.hpp"
#include "isa/network.hpp"
#include "sdk/ops/loss.hpp"

namespace mokume::host::fast {
namespace {

struct Largest {
  float value;    // NaN if any element is NaN
  int64_t first;  // -1 if any element is NaN
};

Largest largest_of(const float* x, int64_t n) {
  int64_t best = 0;
  for (int64_t c = 0; c < n; ++c) {
    if (std::isnan(x[c])) return {x[c], -1};
    if (x[c] > x[best]) best = c;
  }
  return {x[best], best};
}

// Stores the exponentials in `kept` unless `kept` is null. `kept` may be x.
double sum_of_exponentials(const NetworkLoops& loops, const float* x, float largest, int64_t n, float* kept) {
  constexpr int64_t kBlock = 256;
  float block[kBlock];
  double sum = 0;
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t count = std::min(kBlock, n - at);
    float* e = kept != nullptr ? kept + at : block;
    loops.exp_minus(x + at, largest, e, count);
    for (int64_t c = 0; c < count; ++c) sum += static_cast<double>(e[c]);
  }
  return sum;
}

// Applies smoothing, the focal factor and the weight, in doubles, which cost little compared to the exponentials.
struct Form {
  double smoothing, gamma, columns;

  explicit Form(const mk_op& op)
      : smoothing(op.softmax_loss.form.smoothing),
        gamma(op.softmax_loss.form.gamma),
        columns(static_cast<double>(op.inputs[0].columns)) {}

  // Returns the sum of (largest - logit), which smoothing needs. The gradient may replace the logits afterwards.
  double sum_below(const float* x, float largest, int64_t n) const {
    double sum = 0;
    for (int64_t c = 0; smoothing > 0 && c < n; ++c) sum += static_cast<double>(largest) - static_cast<double>(x[c]);
    return sum;
  }

  // Returns the loss from log(sum of exponentials), the label's logit minus the largest, and sum_below(). Multiplies
  // `scale` by the factor of the gradient.
  double loss(double log_sum, double below, double all_below, double weight, double* scale) const {
    double loss = log_sum - below;
    if (smoothing > 0) loss = (1 - smoothing) * loss + smoothing * (log_sum + all_below / columns);
    *scale *= weight;
    if (gamma == 0) return weight * loss;
    const double p = std::exp(-loss), rest = -std::expm1(-loss);
    const double power = rest <= 0 ? 0 : std::pow(rest, gamma);
    *scale *= power + (p > 0 && !(rest <= 0) ? gamma * power / rest * p * loss : 0);
    return weight * power * loss;
  }
};

}  // namespace

void softmax_loss(const Call& call) {
  const View<const float> logits = call.input(0);
  const View<const int32_t> label = call.indices(1), index = call.indices(2);
  const View<float> rows = call.output(0);
  const View<float> grad = call.op.n_outputs == 2 ? call.output(1) : View<float>{};
  const NetworkLoops& loops = *call.loops.network;
  const double scale = call.op.softmax_loss.scale;
  const int64_t k = logits.columns;
  const Form form(call.op);
  const bool plain = ops::is_plain_loss(call.op);
  call.for_rows(logits.rows, 8 * k, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      const int32_t target = label.data[index.data[r]];
      const Largest largest = largest_of(logits.row(r), k);
      const double below = static_cast<double>(logits.row(r)[target]) - static_cast<double>(largest.value);
      const double all_below = form.sum_below(logits.row(r), largest.value, k);
      float* gradient = grad.row(r);  // null if not requested
      const double sum = sum_of_exponentials(loops, logits.row(r), largest.value, k, gradient);
      double row_scale = scale, loss = std::log(sum) - below;
      if (!plain) {
        const double weight = call.op.n_inputs == 4 ? static_cast<double>(call.input(3).data[index.data[r]]) : 1;
        loss = form.loss(std::log(sum), below, all_below, weight, &row_scale);
      }
      rows.row(r)[0] = static_cast<float>(loss);
      rows.row(r)[1] = largest.first == target ? 1.0F : 0.0F;
      if (gradient == nullptr) continue;
      const double probability = static_cast<double>(gradient[target]) / sum;
      loops.scale(gradient, static_cast<float>(row_scale / sum), k);
      gradient[target] = static_cast<float>(row_scale * (probability - (1 - form.smoothing)));
      if (form.smoothing == 0) continue;
      const auto share = static_cast<float>(row_scale * form.smoothing / form.columns);
      for (int64_t c = 0; c < k; ++c) gradient[c] -= share;
    }
  });
}

}  // namespace mokume::host::fast
