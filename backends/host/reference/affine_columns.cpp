#include "call.hpp"

namespace mokume::host::reference {

void affine_columns(const Call& call) {
  const View<const float> x = call.input(0);
  const float* scale = call.input(1).data;
  const float* shift = call.op.n_inputs == 3 ? call.input(2).data : nullptr;
  const View<float> out = call.output();
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c)
      out.row(r)[c] = (shift == nullptr ? x.row(r)[c] : x.row(r)[c] - shift[c]) * scale[c];
}

}  // namespace mokume::host::reference
