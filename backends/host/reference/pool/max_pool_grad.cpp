#include "sdk/ops/max_pool.hpp"

#include "call.hpp"
#include "relu_of_grad.hpp"

namespace mokume::host::reference {

void max_pool_grad(const Call& call) {
  const ops::Window w = ops::window_of(call.op.max_pool);
  const View<const float> grad = call.input(0);
  const View<const int32_t> place = call.indices(1);
  const View<float> dx = call.output();
  for (int64_t n = 0; n < dx.rows; ++n)
    for (int64_t y = 0; y < w.height; ++y)
      for (int64_t x = 0; x < w.width; ++x)
        for (int64_t k = 0; k < w.channels; ++k) {
          double sum = 0;
          for (int64_t i = 0; i < w.kernel_h; ++i)
            for (int64_t j = 0; j < w.kernel_w; ++j) {
              const int64_t top = y + w.pad_h - i, left = x + w.pad_w - j;
              if (top < 0 || left < 0 || top % w.stride_h != 0 || left % w.stride_w != 0) continue;
              const int64_t window_y = top / w.stride_h, window_x = left / w.stride_w;
              if (window_y >= w.out_height() || window_x >= w.out_width()) continue;
              const int64_t at = (window_y * w.out_width() + window_x) * w.channels + k;
              if (place.row(n)[at] == i * w.kernel_w + j) sum += grad.row(n)[at];
            }
          dx.row(n)[(y * w.width + x) * w.channels + k] = static_cast<float>(sum);
        }
  through_relu(call, act_grad);
}

}  // namespace mokume::host::reference
