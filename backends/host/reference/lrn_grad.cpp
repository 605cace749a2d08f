#include <algorithm>
#include <cmath>
#include <vector>

#include "call.hpp"
#include "sdk/ops/lrn.hpp"

namespace mokume::host::reference {

void lrn_grad(const Call& call) {
  const View<const float> grad = call.input(0), x = call.input(1);
  const View<float> dx = call.output();
  const ops::Lrn form = call.op.lrn;
  const double share = form.alpha / double(form.size);
  const int64_t before = ops::lrn_before(form), after = ops::lrn_after(form);
  std::vector<double> n(static_cast<size_t>(x.columns));
  for (int64_t r = 0; r < x.rows; ++r) {
    const auto sum_over = [&](int64_t first, int64_t last, const auto& term) {
      double sum = 0;
      for (int64_t k = std::max<int64_t>(0, first); k <= std::min(x.columns - 1, last); ++k) sum += term(k);
      return sum;
    };
    for (int64_t c = 0; c < x.columns; ++c)
      n[c] = form.bias +
             share * sum_over(c - before, c + after, [&](int64_t k) { return double(x.row(r)[k]) * x.row(r)[k]; });
    for (int64_t c = 0; c < x.columns; ++c) {
      const double sum = sum_over(c - after, c + before, [&](int64_t k) {
        return double(grad.row(r)[k]) * x.row(r)[k] * std::pow(n[k], -form.beta - 1);
      });
      dx.row(r)[c] = float(grad.row(r)[c] * std::pow(n[c], -form.beta) - 2 * share * form.beta * x.row(r)[c] * sum);
    }
  }
}

}  // namespace mokume::host::reference
