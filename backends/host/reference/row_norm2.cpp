#include "call.hpp"

namespace mokume::host::reference {

void row_norm2(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < x.columns; ++c) {
        const double value = x.row(r)[c];
        sum += value * value;
      }
      out.data[r] = static_cast<float>(sum);
    }
  });
}

}  // namespace mokume::host::reference
