#include "sdk/ops/max_pool.hpp"

#include <cmath>

#include "call.hpp"

namespace mokume::host::reference {

void max_pool(const Call& call) {
  const ops::Window w = ops::window_of(call.op.max_pool);
  const View<const float> in = call.input(0);
  const View<float> out = call.output();
  const View<int32_t> place = call.places(1);
  for (int64_t n = 0; n < in.rows; ++n)
    for (int64_t y = 0; y < w.out_height(); ++y)
      for (int64_t x = 0; x < w.out_width(); ++x)
        for (int64_t k = 0; k < w.channels; ++k) {
          float best = 0;
          int32_t best_at = -1;
          for (int64_t i = 0; i < w.kernel_h; ++i)
            for (int64_t j = 0; j < w.kernel_w; ++j) {
              const int64_t from_y = y * w.stride_h - w.pad_h + i, from_x = x * w.stride_w - w.pad_w + j;
              if (from_y < 0 || from_y >= w.height || from_x < 0 || from_x >= w.width) continue;
              const float value = in.row(n)[(from_y * w.width + from_x) * w.channels + k];
              if (best_at >= 0 && (std::isnan(best) || !(value > best || std::isnan(value)))) continue;
              best = value;
              best_at = static_cast<int32_t>(i * w.kernel_w + j);
            }
          const int64_t at = (y * w.out_width() + x) * w.channels + k;
          out.row(n)[at] = best;
          place.row(n)[at] = best_at;
        }
}

}  // namespace mokume::host::reference
