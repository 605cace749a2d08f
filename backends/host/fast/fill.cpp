#include <algorithm>

#include "call.hpp"

namespace mokume::host::fast {

void fill(const Call& call) {
  const View<float> out = call.output();
  const float value = static_cast<float>(call.op.fill.value);
  call.for_rows(out.rows, out.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) std::fill_n(out.row(r), out.columns, value);
  });
}

}  // namespace mokume::host::fast
