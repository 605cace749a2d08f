#include "sdk/ops/batch_norm.hpp"

#include <cmath>

#include "fast/norm/norm_parts.hpp"

namespace mokume::host::fast {
namespace {

float inverse_of(const Call& call, float variance) {
  return 1.0F / std::sqrt(variance + static_cast<float>(call.op.batch_norm.eps));
}

// Sets the scale and the shift of column c.
void set_scale(const Call& call, int64_t c, float mean, float inverse, float* scale, float* shift) {
  scale[c] = call.input(1).data[c] * inverse;
  shift[c] = call.input(2).data[c] - mean * scale[c];
}

// Writes the moments of the rows of x.
void measure(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output(1);
  NormParts parts(x.rows, x.columns);
  parts.for_each_block(call, [&](int64_t first, int64_t count, float* mean, float* squares) {
    NormRows n{};
    n.x = x.row(first);
    n.rows = count;
    n.columns = x.columns;
    n.x_stride = x.stride;
    call.loops.norm->block_moments(n, mean, squares);
  });
  std::vector<float> squares(static_cast<size_t>(x.columns));
  parts.merge(call, out.row(ops::kNormMean), squares.data(), call.loops.norm->merge);
  const auto rows = static_cast<float>(x.rows), free = static_cast<float>(std::max<int64_t>(x.rows - 1, 1));
  for (int64_t c = 0; c < x.columns; ++c) {
    const float sum = squares[static_cast<size_t>(c)], inverse = inverse_of(call, sum / rows);
    out.row(ops::kNormInverse)[c] = inverse;
    out.row(ops::kNormVariance)[c] = sum / free;
    set_scale(call, c, out.row(ops::kNormMean)[c], inverse, out.row(ops::kNormScale), out.row(ops::kNormShift));
  }
}

}  // namespace

void predicting_scale(const Call& call, float* scale, float* shift) {
  for (int64_t c = 0; c < call.input(0).columns; ++c)
    set_scale(call, c, call.input(3).data[c], inverse_of(call, call.input(4).data[c]), scale, shift);
}

void batch_norm(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> y = call.output();
  const bool predicts = call.op.n_inputs == 5;
  if (!predicts) measure(call);
  std::vector<float> given(predicts ? static_cast<size_t>(2 * x.columns) : 0);
  if (predicts) predicting_scale(call, given.data(), given.data() + x.columns);
  NormRows all{};
  all.columns = x.columns;
  all.x_stride = x.stride;
  all.out_stride = y.stride;
  all.scale = predicts ? given.data() : call.output(1).row(ops::kNormScale);
  all.shift = predicts ? given.data() + x.columns : call.output(1).row(ops::kNormShift);
  all.relu = call.op.batch_norm.activation == ops::Activation::relu;
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    NormRows n = all;
    n.x = x.row(from);
    n.out = y.row(from);
    n.rows = to - from;
    call.loops.norm->apply(n);
  });
}

}  // namespace mokume::host::fast
