#include <algorithm>

#include "call.hpp"
#include "isa/network.hpp"
#include "sdk/ops/multiply.hpp"

namespace mokume::host::fast {

void multiply_grad_factor(const Call& call) {
  const View<const float> grad = call.input(0), x = call.input(1);
  const View<float> out = call.output();
  const int64_t pixels = ops::pixels_each(call.op.inputs[1], call.op.outputs[0]);
  call.for_rows(out.rows, pixels * x.columns, [&](int64_t from, int64_t to) {
    for (int64_t n = from; n < to; ++n) {
      std::fill_n(out.row(n), out.columns, 0.0F);
      for (int64_t r = n * pixels; r < (n + 1) * pixels; ++r)
        call.loops.network->add_product(out.row(n), grad.row(r), x.row(r), out.columns);
    }
  });
}

}  // namespace mokume::host::fast
