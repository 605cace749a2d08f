#include "sdk/ops/batch_norm.hpp"

#include <cmath>

#include "fast/norm/norm_parts.hpp"

namespace mokume::host::fast {
namespace {

struct Moments {
  double mean = 0, squares = 0;
};

// Combines the blocks with the formula of Chan, Golub and LeVeque.
Moments moments_of(NormParts& parts, int64_t column) {
  Moments m;
  double n = 0;
  for (int64_t b = 0; b < parts.blocks(); ++b) {
    const auto k = static_cast<double>(parts.rows_of(b));
    const double difference = parts.line(b, 0)[column] - m.mean;
    m.mean += difference * (k / (n + k));
    m.squares += parts.line(b, 1)[column] + difference * difference * (n * k / (n + k));
    n += k;
  }
  return m;
}

// Sets the scale and the shift of column c, and returns 1 / sqrt(variance + eps).
double set_scale(const Call& call, int64_t c, double mean, double variance, float* scale, float* shift) {
  const double inverse = 1 / std::sqrt(variance + call.op.batch_norm.eps);
  scale[c] = static_cast<float>(call.input(1).data[c] * inverse);
  shift[c] = static_cast<float>(call.input(2).data[c] - mean * static_cast<double>(scale[c]));
  return inverse;
}

}  // namespace

void predicting_scale(const Call& call, float* scale, float* shift) {
  for (int64_t c = 0; c < call.input(0).columns; ++c)
    set_scale(call, c, call.input(3).data[c], call.input(4).data[c], scale, shift);
}

void batch_norm(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> y = call.output();
  const bool predicts = call.op.n_inputs == 5;
  const auto rows = static_cast<double>(x.rows);
  std::vector<float> given(predicts ? static_cast<size_t>(2 * x.columns) : 0);
  float* scale = given.data();
  float* shift = given.data() + given.size() / 2;
  NormParts parts(predicts ? 0 : x.rows, x.columns);
  parts.for_each_block(call, [&](int64_t block, int64_t first, int64_t count) {
    NormRows n{};
    n.x = x.row(first);
    n.rows = count;
    n.columns = x.columns;
    n.x_stride = x.stride;
    call.loops.network->norm_moments(n, parts.line(block, 0), parts.line(block, 1));
  });
  if (!predicts) {
    scale = call.output(1).row(ops::kNormScale);
    shift = call.output(1).row(ops::kNormShift);
  }
  if (predicts) predicting_scale(call, scale, shift);
  call.for_rows(predicts ? 0 : x.columns, 4 * parts.blocks(), [&](int64_t from, int64_t to) {
    for (int64_t c = from; c < to; ++c) {
      const Moments m = moments_of(parts, c);
      const double inverse = set_scale(call, c, m.mean, m.squares / rows, scale, shift);
      call.output(1).row(ops::kNormMean)[c] = static_cast<float>(m.mean);
      call.output(1).row(ops::kNormInverse)[c] = static_cast<float>(inverse);
      call.output(1).row(ops::kNormVariance)[c] = static_cast<float>(m.squares / std::max(1.0, rows - 1));
    }
  });
  const bool relu = call.op.batch_norm.activation == ops::Activation::relu;
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    NormRows n{};
    n.x = x.row(from);
    n.out = y.row(from);
    n.rows = to - from;
    n.columns = x.columns;
    n.x_stride = x.stride;
    n.out_stride = y.stride;
    n.scale = scale;
    n.shift = shift;
    n.relu = relu;
    call.loops.network->norm_apply(n);
  });
}

}  // namespace mokume::host::fast
