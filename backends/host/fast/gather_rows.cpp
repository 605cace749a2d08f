#include <algorithm>

#include "call.hpp"

namespace mokume::host::fast {

void gather_rows(const Call& call) {
  const View<const float> x = call.input(0);
  const View<const int32_t> index = call.indices(1);
  const View<float> out = call.output();
  call.for_rows(out.rows, out.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) std::copy_n(x.row(index.data[r]), out.columns, out.row(r));
  });
}

}  // namespace mokume::host::fast
