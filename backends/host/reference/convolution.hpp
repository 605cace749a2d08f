// Defines what the oracle's convolutions share.
#pragma once

#include "call.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::host::reference {

// Calls body(place in the image, place in the patch) for each element of `group` under window `p` inside the image.
template <class Body>
void for_window(const ops::Window& w, int64_t p, int64_t group, Body&& body) {
  const int64_t top = p / w.out_width() * w.stride_h - w.pad_h, left = p % w.out_width() * w.stride_w - w.pad_w;
  const int64_t channels = w.group_channels();
  for (int64_t i = 0; i < w.kernel_h; ++i)
    for (int64_t j = 0; j < w.kernel_w; ++j) {
      const int64_t y = top + i * w.dilation_h, x = left + j * w.dilation_w;
      if (y < 0 || y >= w.height || x < 0 || x >= w.width) continue;
      for (int64_t k = 0; k < channels; ++k)
        body((y * w.width + x) * w.channels + group * channels + k, (i * w.kernel_w + j) * channels + k);
    }
}

}  // namespace mokume::host::reference
