#include "call.hpp"

namespace mokume::host::reference {

void fill(const Call& call) {
  const View<float> out = call.output();
  const float value = static_cast<float>(call.op.fill.value);
  for (int64_t r = 0; r < out.rows; ++r)
    for (int64_t c = 0; c < out.columns; ++c) out.row(r)[c] = value;
}

}  // namespace mokume::host::reference
