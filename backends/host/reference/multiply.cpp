#include "sdk/ops/multiply.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void multiply(const Call& call) {
  const View<const float> x = call.input(0), factor = call.input(1);
  const View<float> out = call.output();
  for (int64_t r = 0; r < x.rows; ++r) {
    const float* by = factor.row(r * factor.rows / x.rows);
    for (int64_t c = 0; c < x.columns; ++c) out.row(r)[c] = x.row(r)[c] * by[c];
  }
}

}  // namespace mokume::host::reference
