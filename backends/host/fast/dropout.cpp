#include "sdk/ops/dropout.hpp"

#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {

void dropout(const Call& call) {
  const mk_op& op = call.op;
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const auto seed = static_cast<uint64_t>(op.integers[0]);
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    call.loops.network->dropout({x.row(from),
                                 out.row(from),
                                 to - from,
                                 x.columns,
                                 x.stride,
                                 out.stride,
                                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
                                 static_cast<uint32_t>(op.integers[3] + from),
                                 static_cast<uint32_t>(op.integers[2]),
                                 static_cast<uint32_t>(op.integers[1]),
                                 ops::dropout_threshold(op),
                                 ops::dropout_scale(op)});
  });
}

}  // namespace mokume::host::fast
