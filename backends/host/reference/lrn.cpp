#include "sdk/ops/lrn.hpp"

#include <algorithm>
#include <cmath>

#include "call.hpp"

namespace mokume::host::reference {

void lrn(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const ops::Lrn form = call.op.lrn;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c) {
      double sum = 0;
      const int64_t last = std::min(x.columns - 1, c + ops::lrn_after(form));
      for (int64_t k = std::max<int64_t>(0, c - ops::lrn_before(form)); k <= last; ++k)
        sum += double(x.row(r)[k]) * x.row(r)[k];
      out.row(r)[c] = float(x.row(r)[c] * std::pow(form.bias + form.alpha / double(form.size) * sum, -form.beta));
    }
}

}  // namespace mokume::host::reference
