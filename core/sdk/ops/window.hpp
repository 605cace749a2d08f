// A window that slides over images: the geometry that convolutions and pools share.
//
// An image is height x width x channels, channels innermost, one image per row of a matrix. Window (y, x) of the
// out_height() x out_width() windows covers rows y * stride_h - pad_h + [0, kernel_h) and columns likewise; pixels
// outside the image are padding.
#pragma once

#include <cstdint>
#include <string>

#include "sdk/tensor.hpp"

namespace mokume::ops {

struct Window {
  int64_t height = 1, width = 1, channels = 1;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t pad_h = 0, pad_w = 0;

  int64_t out_height() const { return (height + 2 * pad_h - kernel_h) / stride_h + 1; }
  int64_t out_width() const { return (width + 2 * pad_w - kernel_w) / stride_w + 1; }
  int64_t out_pixels() const { return out_height() * out_width(); }
  int64_t image() const { return height * width * channels; }       // in elements
  int64_t patch() const { return kernel_h * kernel_w * channels; }  // elements in the window
};

inline constexpr int64_t kMaxSide = int64_t{1} << 20;

// Stores the members in order in integers[0..8].
inline void set_window(mk_op& op, const Window& w) {
  const int64_t all[] = {w.height,   w.width,    w.channels, w.kernel_h, w.kernel_w,
                         w.stride_h, w.stride_w, w.pad_h,    w.pad_w};
  for (int i = 0; i < 9; ++i) op.integers[i] = all[i];
}

inline Window window_of(const mk_op& op) {
  const int64_t* i = op.integers;
  return {i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7], i[8]};
}

// Throws unless every side is in range, the padding is smaller than the window, and the window fits the padded image.
inline Window check_window(const char* op, const mk_op& descriptor) {
  const Window w = window_of(descriptor);
  const auto refuse = [&](const std::string& why) { throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": " + why); };
  for (const int64_t side : {w.height, w.width, w.channels, w.kernel_h, w.kernel_w, w.stride_h, w.stride_w})
    if (side < 1 || side > kMaxSide) refuse("a side of the window or the image is not from 1 to 2^20");
  if (w.pad_h < 0 || w.pad_w < 0 || w.pad_h >= w.kernel_h || w.pad_w >= w.kernel_w)
    refuse("the padding must be at least 0 and smaller than the window");
  if (w.kernel_h > w.height + 2 * w.pad_h || w.kernel_w > w.width + 2 * w.pad_w)
    refuse("the window is larger than the padded image");
  return w;
}

// The number of windows in `images` >= 0 images. Throws if it exceeds the number of rows that any matrix can have.
inline int64_t all_windows(const char* op, const Window& w, int64_t images) {
  constexpr int64_t kLimit = int64_t{1} << 48;
  if (images > kLimit / w.out_pixels()) throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": too many windows");
  return images * w.out_pixels();
}

}  // namespace mokume::ops
