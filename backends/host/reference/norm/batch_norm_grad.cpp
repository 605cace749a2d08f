#include "call.hpp"
#include "sdk/ops/batch_norm.hpp"

namespace mokume::host::reference {

void batch_norm_grad(const Call& call) {
  const View<const float> dy = call.input(0), x = call.input(1), moments = call.input(2);
  const bool relu = call.op.batch_norm.activation == ops::Activation::relu;
  const auto rows = static_cast<double>(x.rows);
  for (int64_t c = 0; c < x.columns; ++c) {
    const float scale = moments.row(ops::kNormScale)[c], shift = moments.row(ops::kNormShift)[c];
    const double mean = moments.row(ops::kNormMean)[c], inverse = moments.row(ops::kNormInverse)[c];
    // The comparison uses floats, because batch_norm and all devices decide by these bits.
    const auto g = [&](int64_t r) {
      return !relu || x.row(r)[c] * scale + shift > 0 ? static_cast<double>(dy.row(r)[c]) : 0.0;
    };
    const auto d = [&](int64_t r) { return (x.row(r)[c] - mean) * inverse; };
    double dweight = 0, dbias = 0;
    for (int64_t r = 0; r < x.rows; ++r) {
      dweight += g(r) * d(r);
      dbias += g(r);
    }
    call.output(0).data[c] = static_cast<float>(dweight);
    call.output(1).data[c] = static_cast<float>(dbias);
    if (ops::norm_dx(call.op) == nullptr) continue;
    for (int64_t r = 0; r < x.rows; ++r)
      call.output(2).row(r)[c] = static_cast<float>(scale * (g(r) - dbias / rows - d(r) * dweight / rows));
  }
  if (ops::norm_drunning(call.op) == nullptr) return;
  const View<const float> running = call.input(3);
  const View<float> drunning = call.output(call.op.n_outputs - 1);
  for (const int line : {0, 1})
    for (int64_t c = 0; c < x.columns; ++c)
      drunning.row(line)[c] = static_cast<float>(
          (double(running.row(line)[c]) - moments.row(line == 0 ? ops::kNormMean : ops::kNormVariance)[c]) *
          call.op.batch_norm.share);
}

}  // namespace mokume::host::reference
