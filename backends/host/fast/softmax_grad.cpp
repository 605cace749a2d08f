#include "call.hpp"
#include "isa/rows.hpp"
#include "sdk/ops/softmax.hpp"

namespace mokume::host::fast {

void softmax_grad(const Call& call) {
  const View<const float> grad = call.input(0), y = call.input(1);
  const View<float> dx = call.output();
  call.for_rows(y.rows, 2 * y.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) call.loops.rows->softmax_grad(grad.row(r), y.row(r), dx.row(r), y.columns);
  });
}

}  // namespace mokume::host::fast
