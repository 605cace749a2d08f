#include "call.hpp"

namespace mokume::host::fast {

void row_norm2(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) out.data[r] = call.loops.norm2(x.row(r), x.columns);
  });
}

}  // namespace mokume::host::fast
