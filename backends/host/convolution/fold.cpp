#include <algorithm>

#include "convolution/patches.hpp"
#include "isa/network.hpp"

namespace mokume::host {
namespace {

struct Line {
  const ops::Window& w;
  const NetworkLoops& loops;
  float* sums;  // the group's first channel of the first pixel

  void clear() const {
    if (w.groups == 1) {
      std::fill_n(sums, w.width * w.channels, 0.0F);
    } else {
      for (int64_t x = 0; x < w.width; ++x) std::fill_n(sums + x * w.channels, w.group_channels(), 0.0F);
    }
  }

  // Adds row i of a window whose first pixel is `left`.
  void add(const float* patch, int64_t i, int64_t left) const {
    const int64_t channels = w.group_channels();
    const float* row = patch + i * w.kernel_w * channels;
    if (w.groups == 1 && w.dilation_w == 1) {
      const int64_t begin = std::max<int64_t>(0, -left), end = std::min(w.kernel_w, w.width - left);
      loops.add(sums + (left + begin) * channels, row + begin * channels, (end - begin) * channels);
      return;
    }
    for (int64_t j = 0; j < w.kernel_w; ++j) {
      const int64_t x = left + j * w.dilation_w;
      if (x >= 0 && x < w.width) loops.add(sums + x * w.channels, row + j * channels, channels);
    }
  }
};

}  // namespace

// Adds rows i of the windows that cover line y of an image, i ascending. Windows go from right to left, so each pixel
// receives columns j of its windows in ascending order.
void fold(const Call& call, const float* patches, const ops::Window& w, int64_t group, const View<float>& out) {
  const int64_t across = w.out_width(), down = w.out_height();
  const auto line = [&](int64_t n, int64_t y) {
    const Line to{w, *call.loops.network, out.row(n) + y * w.width * w.channels + group * w.group_channels()};
    to.clear();
    for (int64_t i = 0; i < w.kernel_h && i * w.dilation_h <= y + w.pad_h; ++i) {
      const int64_t top = y + w.pad_h - i * w.dilation_h, window_y = top / w.stride_h;
      if (top % w.stride_h != 0 || window_y >= down) continue;
      for (int64_t window_x = across - 1; window_x >= 0; --window_x)
        to.add(patches + ((n * down + window_y) * across + window_x) * w.patch(), i, window_x * w.stride_w - w.pad_w);
    }
  };
  call.for_rows(out.rows * w.height, across * w.patch(), [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) line(at / w.height, at % w.height);
  });
}

}  // namespace mokume::host
