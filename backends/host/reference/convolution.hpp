// Code shared by the oracle's convolutions.
#pragma once

#include "call.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::host::reference {

// Calls body(place in the image, place in the patch) for each element under window `p` that lies inside the image.
template <class Body>
void for_window(const ops::Window& w, int64_t p, Body&& body) {
  const int64_t top = p / w.out_width() * w.stride_h - w.pad_h, left = p % w.out_width() * w.stride_w - w.pad_w;
  for (int64_t i = 0; i < w.kernel_h; ++i)
    for (int64_t j = 0; j < w.kernel_w; ++j) {
      if (top + i < 0 || top + i >= w.height || left + j < 0 || left + j >= w.width) continue;
      for (int64_t k = 0; k < w.channels; ++k)
        body(((top + i) * w.width + left + j) * w.channels + k, (i * w.kernel_w + j) * w.channels + k);
    }
}

}  // namespace mokume::host::reference
