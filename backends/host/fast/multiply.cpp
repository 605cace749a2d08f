#include "sdk/ops/multiply.hpp"

#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {

// The rows of an image are an affine function of its columns.
void multiply(const Call& call) {
  const View<const float> x = call.input(0), factor = call.input(1);
  const View<float> out = call.output();
  const int64_t pixels = ops::pixels_each(call.op.inputs[0], call.op.inputs[1]);
  call.for_rows(factor.rows, pixels * x.columns, [&](int64_t from, int64_t to) {
    for (int64_t n = from; n < to; ++n)
      call.loops.network->affine(
          {x.row(n * pixels), factor.row(n), nullptr, out.row(n * pixels), pixels, x.columns, x.stride, out.stride});
  });
}

}  // namespace mokume::host::fast
