#include "sdk/ops/lrn.hpp"

#include "call.hpp"
#include "lrn_norm.hpp"

namespace mokume::host::reference {

void lrn(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const ops::Lrn form = call.op.lrn;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c)
      out.row(r)[c] = float(x.row(r)[c] * std::pow(lrn_norm(form, x.row(r), x.columns, c), -form.beta));
}

}  // namespace mokume::host::reference
