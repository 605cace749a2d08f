#include "call.hpp"

namespace mokume::host::reference {

void gather_rows(const Call& call) {
  const View<const float> x = call.input(0);
  const View<const int32_t> index = call.indices(1);
  const View<float> out = call.output();
  for (int64_t r = 0; r < out.rows; ++r)
    for (int64_t c = 0; c < out.columns; ++c) out.row(r)[c] = x.row(index.data[r])[c];
}

}  // namespace mokume::host::reference
