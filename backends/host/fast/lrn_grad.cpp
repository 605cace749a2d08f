#include <vector>

#include "call.hpp"
#include "lrn_norm.hpp"

namespace mokume::host::fast {

// Computes each power once, unlike the reference.
void lrn_grad(const Call& call) {
  const View<const float> grad = call.input(0), x = call.input(1);
  const View<float> dx = call.output();
  const ops::Lrn form = call.op.lrn;
  const double factor = 2 * form.alpha / double(form.size) * form.beta;
  call.for_rows(x.rows, x.columns * (2 * form.size + 30), [&](int64_t from, int64_t to) {
    std::vector<double> powers(x.columns), terms(x.columns);
    for (int64_t r = from; r < to; ++r) {
      for (int64_t c = 0; c < x.columns; ++c) {
        const double norm = lrn_norm(form, x.row(r), x.columns, c);
        powers[c] = std::pow(norm, -form.beta);
        terms[c] = double(grad.row(r)[c]) * x.row(r)[c] * powers[c] / norm;
      }
      for (int64_t c = 0; c < x.columns; ++c) {
        const double sum = sum_of_columns(x.columns, c - ops::lrn_after(form), c + ops::lrn_before(form),
                                          [&](int64_t k) { return terms[k]; });
        dx.row(r)[c] = float(grad.row(r)[c] * powers[c] - factor * x.row(r)[c] * sum);
      }
    }
  });
}

}  // namespace mokume::host::fast
