#include "sdk/ops/max_pool.hpp"

#include <algorithm>

#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {

void max_pool(const Call& call) {
  const ops::Window w = ops::window_of(call.op.max_pool);
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const View<int32_t> place = call.places(1);
  const int64_t across = w.out_width(), down = w.out_height();
  const auto line = [&](int64_t n, int64_t y) {
    const int64_t top = y * w.stride_h - w.pad_h, i = std::max<int64_t>(0, -top);
    for (int64_t c = 0; c < across; ++c) {
      const int64_t left = c * w.stride_w - w.pad_w, j = std::max<int64_t>(0, -left);
      const int64_t at = (y * across + c) * w.channels;
      call.loops.network->max_window({x.row(n) + ((top + i) * w.width + left + j) * w.channels, w.width * w.channels,
                                      w.channels, std::min(w.kernel_h, w.height - top) - i,
                                      std::min(w.kernel_w, w.width - left) - j,
                                      static_cast<int32_t>(i * w.kernel_w + j), static_cast<int32_t>(w.kernel_w),
                                      out.row(n) + at, place.row(n) + at});
    }
  };
  call.for_rows(x.rows * down, across * w.patch(), [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / down, at % down);
  });
}

}  // namespace mokume::host::fast
