#include <algorithm>

#include "call.hpp"
#include "isa/network.hpp"
#include "relu_of_grad.hpp"
#include "sdk/ops/max_pool.hpp"

namespace mokume::host::fast {

// Computes line y of an image in the order of fold.cpp: i ascending, windows from right to left, j ascending.
void max_pool_grad(const Call& call) {
  const ops::Window w = ops::window_of(call.op.max_pool);
  const View<const float> grad = call.input(0);
  const View<const int32_t> place = call.indices(1);
  const View<float> dx = call.output();
  const int64_t across = w.out_width(), down = w.out_height();
  const auto line = [&](int64_t n, int64_t y) {
    float* sums = dx.row(n) + y * w.width * w.channels;
    std::fill_n(sums, w.width * w.channels, 0.0F);
    for (int64_t i = 0; i < w.kernel_h && i <= y + w.pad_h; ++i) {
      const int64_t window_y = (y + w.pad_h - i) / w.stride_h;
      if ((y + w.pad_h - i) % w.stride_h != 0 || window_y >= down) continue;
      for (int64_t window_x = across - 1; window_x >= 0; --window_x) {
        const int64_t left = window_x * w.stride_w - w.pad_w, at = (window_y * across + window_x) * w.channels;
        const int64_t end = std::min(w.kernel_w, w.width - left);
        for (int64_t j = std::max<int64_t>(0, -left); j < end; ++j)
          call.loops.network->add_chosen(sums + (left + j) * w.channels, grad.row(n) + at, place.row(n) + at,
                                         static_cast<int32_t>(i * w.kernel_w + j), w.channels);
      }
    }
  };
  call.for_rows(dx.rows * w.height, across * w.patch(), [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / w.height, at % w.height);
  });
  through_relu(call, act_grad);
}

}  // namespace mokume::host::fast
