#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {

void affine_columns(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const float* scale = call.input(1).data;
  const float* shift = call.op.n_inputs == 3 ? call.input(2).data : nullptr;
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    call.loops.network->affine({x.row(from), scale, shift, out.row(from), to - from, x.columns, x.stride, out.stride});
  });
}

}  // namespace mokume::host::fast
