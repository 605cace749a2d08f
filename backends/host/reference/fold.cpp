#include "sdk/ops/fold.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void fold(const Call& call) {
  const ops::Window w = ops::window_of(call.op);
  const View<const float> patches = call.input(0);
  const View<float> out = call.output();
  for (int64_t n = 0; n < out.rows; ++n)
    for (int64_t y = 0; y < w.height; ++y)
      for (int64_t x = 0; x < w.width; ++x)
        for (int64_t k = 0; k < w.channels; ++k) {
          double sum = 0;
          for (int64_t i = 0; i < w.kernel_h; ++i)
            for (int64_t j = 0; j < w.kernel_w; ++j) {
              const int64_t top = y + w.pad_h - i, left = x + w.pad_w - j;  // of the window, times the stride
              if (top < 0 || left < 0 || top % w.stride_h != 0 || left % w.stride_w != 0) continue;
              const int64_t window_y = top / w.stride_h, window_x = left / w.stride_w;
              if (window_y >= w.out_height() || window_x >= w.out_width()) continue;
              sum += patches.row(n * w.out_pixels() + window_y * w.out_width() +
                                 window_x)[(i * w.kernel_w + j) * w.channels + k];
            }
          out.row(n)[(y * w.width + x) * w.channels + k] = static_cast<float>(sum);
        }
}

}  // namespace mokume::host::reference
