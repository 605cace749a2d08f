#include "sdk/ops/dropout.hpp"

#include "call.hpp"
#include "sdk/philox.hpp"

namespace mokume::host::reference {

void dropout(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const uint32_t threshold = ops::dropout_threshold(call.op);
  const float scale = ops::dropout_scale(call.op);
  const auto seed = static_cast<uint64_t>(call.op.integers[0]);
  const sdk::PhiloxKey key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c) {
      const sdk::PhiloxCounter counter{static_cast<uint32_t>(call.op.integers[3] + r), static_cast<uint32_t>(c / 4),
                                       static_cast<uint32_t>(call.op.integers[2]),
                                       static_cast<uint32_t>(call.op.integers[1])};
      const uint32_t word = sdk::philox(counter, key)[static_cast<size_t>(c % 4)];
      out.row(r)[c] = word >= threshold ? x.row(r)[c] * scale : 0.0F;
    }
}

}  // namespace mokume::host::reference
