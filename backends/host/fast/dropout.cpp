#include "sdk/ops/dropout.hpp"

#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {

void dropout(const Call& call) {
  const mk_op& op = call.op;
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const ops::DropoutPlace& place = op.dropout.place;
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    call.loops.network->dropout({x.row(from),
                                 out.row(from),
                                 to - from,
                                 x.columns,
                                 x.stride,
                                 out.stride,
                                 {static_cast<uint32_t>(place.seed), static_cast<uint32_t>(place.seed >> 32)},
                                 static_cast<uint32_t>(place.first_row + from),
                                 static_cast<uint32_t>(place.step),
                                 static_cast<uint32_t>(place.layer),
                                 ops::dropout_threshold(op),
                                 ops::dropout_scale(op)});
  });
}

}  // namespace mokume::host::fast
