#include "call.hpp"

namespace mokume::host::fast {

void row_norm2(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    call.loops.row_norm2({x.row(from), out.data + from, to - from, x.columns, x.stride});
  });
}

}  // namespace mokume::host::fast
