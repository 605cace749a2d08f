#include "call.hpp"
#include "sdk/ops/softmax.hpp"

namespace mokume::host::fast {

void softmax_grad(const Call& call) {
  const View<const float> grad = call.input(0), y = call.input(1);
  const View<float> dx = call.output();
  call.for_rows(y.rows, 2 * y.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      const float *g = grad.row(r), *p = y.row(r);
      float* d = dx.row(r);
      double sum = 0;
      for (int64_t c = 0; c < y.columns; ++c) sum += static_cast<double>(g[c]) * static_cast<double>(p[c]);
      const auto mean = static_cast<float>(sum);
      for (int64_t c = 0; c < y.columns; ++c) d[c] = p[c] * (g[c] - mean);
    }
  });
}

}  // namespace mokume::host::fast
