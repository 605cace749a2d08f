#include <vector>

#include "call.hpp"
#include "sdk/ops/embedding.hpp"

namespace mokume::host::reference {

void embedding_grad(const Call& call) {
  const View<const float> x = call.input(0), grad = call.input(1);
  const View<float> dtable = call.output();
  const int64_t codes = dtable.rows / x.columns;
  std::vector<double> sums(static_cast<size_t>(dtable.rows * dtable.columns));
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c) {
      const float code = x.row(r)[c];
      if (!(code >= 0 && code < float(codes)) || float(int64_t(code)) != code) continue;
      double* const to = sums.data() + (c * codes + int64_t(code)) * dtable.columns;
      for (int64_t s = 0; s < dtable.columns; ++s) to[s] += grad.row(r)[c * dtable.columns + s];
    }
  for (int64_t v = 0; v < dtable.rows; ++v)
    for (int64_t s = 0; s < dtable.columns; ++s) dtable.row(v)[s] = float(sums[v * dtable.columns + s]);
}

}  // namespace mokume::host::reference
