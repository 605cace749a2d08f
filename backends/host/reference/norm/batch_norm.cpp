#include "sdk/ops/batch_norm.hpp"

#include <cmath>

#include "call.hpp"

namespace mokume::host::reference {
namespace {

struct Column {
  double mean = 0, variance = 0, unbiased = 0;
};

Column moments_of(const View<const float>& x, int64_t c) {
  Column m;
  for (int64_t r = 0; r < x.rows; ++r) m.mean += x.row(r)[c];
  m.mean /= static_cast<double>(x.rows);
  double squares = 0;
  for (int64_t r = 0; r < x.rows; ++r) squares += (x.row(r)[c] - m.mean) * (x.row(r)[c] - m.mean);
  m.variance = squares / static_cast<double>(x.rows);
  m.unbiased = x.rows > 1 ? squares / static_cast<double>(x.rows - 1) : m.variance;
  return m;
}

}  // namespace

void batch_norm(const Call& call) {
  const View<const float> x = call.input(0), weight = call.input(1), bias = call.input(2);
  const View<float> y = call.output();
  const bool relu = call.op.batch_norm.activation == ops::Activation::relu;
  const bool predicts = call.op.n_inputs == 5;
  for (int64_t c = 0; c < x.columns; ++c) {
    const Column m = predicts ? Column{call.input(3).data[c], call.input(4).data[c]} : moments_of(x, c);
    const double inverse = 1 / std::sqrt(m.variance + call.op.batch_norm.eps), scale = weight.data[c] * inverse,
                 shift = bias.data[c] - m.mean * scale;
    if (!predicts) {
      const View<float> moments = call.output(1);
      const double all[] = {m.mean, inverse, m.unbiased, scale, shift};
      for (int k = 0; k < ops::kNormMoments; ++k) moments.row(k)[c] = static_cast<float>(all[k]);
    }
    for (int64_t r = 0; r < x.rows; ++r) {
      const double v = (x.row(r)[c] - m.mean) * scale + bias.data[c];
      y.row(r)[c] = static_cast<float>(relu && v < 0 ? 0.0 : v);  // this form lets a NaN pass through
    }
  }
}

}  // namespace mokume::host::reference
