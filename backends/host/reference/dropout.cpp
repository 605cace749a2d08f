#include "sdk/ops/dropout.hpp"

#include "call.hpp"
#include "sdk/philox.hpp"

namespace mokume::host::reference {

void dropout(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const uint32_t threshold = ops::dropout_threshold(call.op);
  const float scale = ops::dropout_scale(call.op);
  const ops::DropoutPlace& place = call.op.dropout.place;
  const sdk::PhiloxKey key{static_cast<uint32_t>(place.seed), static_cast<uint32_t>(place.seed >> 32)};
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t c = 0; c < x.columns; ++c) {
      const sdk::PhiloxCounter counter{static_cast<uint32_t>(place.first_row + r), static_cast<uint32_t>(c / 4),
                                       static_cast<uint32_t>(place.step), static_cast<uint32_t>(place.layer)};
      const uint32_t word = sdk::philox(counter, key)[static_cast<size_t>(c % 4)];
      out.row(r)[c] = word >= threshold ? x.row(r)[c] * scale : 0.0F;
    }
}

}  // namespace mokume::host::reference
