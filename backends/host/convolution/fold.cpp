#include <algorithm>

#include "convolution/patches.hpp"
#include "isa/network.hpp"

namespace mokume::host {

// Computes line y of an image from rows i of the windows that cover it, i ascending. Windows go from right to left, so
// each pixel receives columns j of its windows in ascending order.
void fold(const Call& call, const float* patches, const ops::Window& w, const View<float>& out) {
  const int64_t across = w.out_width(), down = w.out_height();
  const auto line = [&](int64_t n, int64_t y) {
    float* sums = out.row(n) + y * w.width * w.channels;
    std::fill_n(sums, w.width * w.channels, 0.0F);
    for (int64_t i = 0; i < w.kernel_h && i <= y + w.pad_h; ++i) {
      const int64_t window_y = (y + w.pad_h - i) / w.stride_h;
      if ((y + w.pad_h - i) % w.stride_h != 0 || window_y >= down) continue;
      for (int64_t window_x = across - 1; window_x >= 0; --window_x) {
        const int64_t left = window_x * w.stride_w - w.pad_w;
        const int64_t begin = std::max<int64_t>(0, -left), end = std::min(w.kernel_w, w.width - left);
        const float* patch =
            patches + ((n * down + window_y) * across + window_x) * w.patch() + i * w.kernel_w * w.channels;
        call.loops.network->add(sums + (left + begin) * w.channels, patch + begin * w.channels,
                                (end - begin) * w.channels);
      }
    }
  };
  call.for_rows(out.rows * w.height, across * w.patch(), [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / w.height, at % w.height);
  });
}

}  // namespace mokume::host
