#include "sdk/ops/unfold.hpp"

#include "call.hpp"

namespace mokume::host::reference {

void unfold(const Call& call) {
  const ops::Window w = ops::window_of(call.op);
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  for (int64_t n = 0; n < x.rows; ++n)
    for (int64_t y = 0; y < w.out_height(); ++y)
      for (int64_t c = 0; c < w.out_width(); ++c) {
        float* patch = out.row(n * w.out_pixels() + y * w.out_width() + c);
        for (int64_t i = 0; i < w.kernel_h; ++i)
          for (int64_t j = 0; j < w.kernel_w; ++j)
            for (int64_t k = 0; k < w.channels; ++k) {
              const int64_t from_y = y * w.stride_h - w.pad_h + i, from_x = c * w.stride_w - w.pad_w + j;
              const bool inside = from_y >= 0 && from_y < w.height && from_x >= 0 && from_x < w.width;
              *patch++ = inside ? x.row(n)[(from_y * w.width + from_x) * w.channels + k] : 0.0F;
            }
      }
}

}  // namespace mokume::host::reference
