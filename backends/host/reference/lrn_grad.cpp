#include "call.hpp"
#include "lrn_norm.hpp"

namespace mokume::host::reference {

void lrn_grad(const Call& call) {
  const View<const float> grad = call.input(0), x = call.input(1);
  const View<float> dx = call.output();
  const ops::Lrn form = call.op.lrn;
  const double factor = 2 * form.alpha / double(form.size) * form.beta;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c) {
      const auto norm = [&](int64_t k) { return lrn_norm(form, x.row(r), x.columns, k); };
      const double sum = sum_of_columns(x.columns, c - ops::lrn_after(form), c + ops::lrn_before(form), [&](int64_t k) {
        return double(grad.row(r)[k]) * x.row(r)[k] * std::pow(norm(k), -form.beta - 1);
      });
      dx.row(r)[c] = float(grad.row(r)[c] * std::pow(norm(c), -form.beta) - factor * x.row(r)[c] * sum);
    }
}

}  // namespace mokume::host::reference
