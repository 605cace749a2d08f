// Defines a window that slides over images: the geometry that convolutions and pools share.
//
// Each row of a matrix is an image of height x width x channels, channels innermost. Window (y, x) of the
// out_height() x out_width() windows covers rows y * stride_h - pad_h + i * dilation_h for i in [0, kernel_h) and
// columns likewise. Pixels outside the image are padding. There are pad_h rows of padding above the image and
// pad_h + more_h below it; more_h may be below 0.
//
// Groups divide the channels evenly: the filters of group g see only the input channels of group g.
#pragma once

#include <cstdint>
#include <string>

#include "sdk/tensor.hpp"

namespace mokume::ops {

struct Window {
  MK_WINDOW(MOKUME_FIELD)

  operator mk_window() const { return std::bit_cast<mk_window>(*this); }
  int64_t extent_h() const { return dilation_h * (kernel_h - 1) + 1; }  // pixels from the first to the last
  int64_t extent_w() const { return dilation_w * (kernel_w - 1) + 1; }
  int64_t out_height() const { return (height + 2 * pad_h + more_h - extent_h()) / stride_h + 1; }
  int64_t out_width() const { return (width + 2 * pad_w + more_w - extent_w()) / stride_w + 1; }
  int64_t out_pixels() const { return out_height() * out_width(); }
  int64_t image() const { return height * width * channels; }  // in elements
  int64_t group_channels() const { return channels / groups; }
  int64_t patch() const { return kernel_h * kernel_w * group_channels(); }  // number of elements that a filter sees
  bool dilated() const { return dilation_h != 1 || dilation_w != 1; }
  bool lopsided() const { return more_h != 0 || more_w != 0; }
};

inline constexpr int64_t kMaxSide = int64_t{1} << 20;

inline Window window_of(const mk_window& w) { return std::bit_cast<Window>(w); }

// Throws unless every side is in range, the padding before the image is smaller than the window, every window begins
// before the image ends, the window fits the padded image, and the groups divide the channels.
inline Window check_window(const char* op, const mk_window& window) {
  const Window w = window_of(window);
  const auto refuse = [&](const std::string& why) { throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": " + why); };
  for (const int64_t side : {w.height, w.width, w.channels, w.kernel_h, w.kernel_w, w.stride_h, w.stride_w,
                             w.dilation_h, w.dilation_w, w.groups})
    if (side < 1 || side > kMaxSide) refuse("a side of the window or the image is not from 1 to 2^20");
  if (w.extent_h() > kMaxSide || w.extent_w() > kMaxSide) refuse("the window is wider than 2^20");
  if (w.pad_h < 0 || w.pad_w < 0 || w.pad_h >= w.extent_h() || w.pad_w >= w.extent_w())
    refuse("the padding must be at least 0 and smaller than the window");
  if (w.more_h < -w.pad_h || w.more_w < -w.pad_w || w.more_h > kMaxSide || w.more_w > kMaxSide)
    refuse("the padding after the image must be at most 2^20 longer than that before it, and not below 0");
  if (w.extent_h() > w.height + 2 * w.pad_h + w.more_h || w.extent_w() > w.width + 2 * w.pad_w + w.more_w)
    refuse("the window is larger than the padded image");
  if ((w.out_height() - 1) * w.stride_h - w.pad_h >= w.height || (w.out_width() - 1) * w.stride_w - w.pad_w >= w.width)
    refuse("the last window lies in the padding");
  if (w.channels % w.groups != 0) refuse("the groups do not divide the channels");
  return w;
}

// Returns the number of windows in `images` >= 0 images. Throws if no matrix can have that many rows.
inline int64_t all_windows(const char* op, const Window& w, int64_t images) {
  constexpr int64_t kLimit = int64_t{1} << 48;
  if (images > kLimit / w.out_pixels()) throw Error(MK_INVALID_ARGUMENT, std::string(op) + ": too many windows");
  return images * w.out_pixels();
}

}  // namespace mokume::ops
