#include <algorithm>
#include <cstring>

#include "convolution/patches.hpp"

namespace mokume::host {
namespace {

// Copies a run, which often has only a few floats (a window row of one channel), four floats at a time. The last four
// floats may overlap the previous four.
void copy_run(const float* from, float* to, int64_t n) {
  if (n > 32) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  } else if (n >= 4) {
    for (int64_t i = 0; i + 4 < n; i += 4) std::memcpy(to + i, from + i, 4 * sizeof(float));
    std::memcpy(to + n - 4, from + n - 4, 4 * sizeof(float));
  } else {
    if (n > 0) to[0] = from[0];
    if (n > 1) to[1] = from[1];
    if (n > 2) to[2] = from[2];
  }
}

void copy_pixels(const ops::Window& w, const float* image, int64_t top, int64_t left, float* patch) {
  const int64_t channels = w.group_channels();
  for (int64_t i = 0; i < w.kernel_h; ++i)
    for (int64_t j = 0; j < w.kernel_w; ++j, patch += channels) {
      const int64_t y = top + i * w.dilation_h, x = left + j * w.dilation_w;
      if (y < 0 || y >= w.height || x < 0 || x >= w.width)
        std::fill_n(patch, channels, 0.0F);
      else
        copy_run(image + (y * w.width + x) * w.channels, patch, channels);
    }
}

// Copies one window of neighbouring pixels with all channels. Each of its rows is zeros, a run of the image, and zeros.
void copy_window(const ops::Window& w, const float* image, int64_t top, int64_t left, float* patch) {
  const int64_t run = w.kernel_w * w.channels;
  const int64_t begin = std::max<int64_t>(0, -left) * w.channels;
  const int64_t end = std::min(w.kernel_w, w.width - left) * w.channels;
  for (int64_t i = 0; i < w.kernel_h; ++i, patch += run) {
    if (top + i < 0 || top + i >= w.height) {
      std::fill_n(patch, run, 0.0F);
      continue;
    }
    if (begin > 0) std::fill_n(patch, begin, 0.0F);
    copy_run(image + ((top + i) * w.width + left) * w.channels + begin, patch + begin, end - begin);
    if (end < run) std::fill_n(patch + end, run - end, 0.0F);
  }
}

}  // namespace

void unfold(const Call& call, const View<const float>& x, const ops::Window& w, int64_t group, float* patches) {
  const auto copy = w.dilated() || w.groups > 1 ? copy_pixels : copy_window;
  const int64_t first = group * w.group_channels();
  const int64_t across = w.out_width(), down = w.out_height();
  call.for_rows(x.rows * down, across * w.patch(), [&](int64_t from, int64_t to) {
    for (int64_t line = from; line < to; ++line)
      for (int64_t c = 0; c < across; ++c)
        copy(w, x.row(line / down) + first, line % down * w.stride_h - w.pad_h, c * w.stride_w - w.pad_w,
             patches + (line * across + c) * w.patch());
  });
}

}  // namespace mokume::host
