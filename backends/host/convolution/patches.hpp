// Computes convolutions on the host: builds the patches of a few images at a time and multiplies them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "call.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::host {

// Copies the patches of one group under the windows of the images. Element (i * kernel_w + j) * group_channels + k of a
// patch is channel k of the group in pixel (i, j) of its window, or 0 in the padding. Each window gives one row of
// w.patch() elements; windows are in the order of the output.
void unfold(const Call& call, const View<const float>& images, const ops::Window& w, int64_t group, float* patches);

// Does the transpose of unfold: adds up patches into the channels of one group. Every pixel is the sum of the elements
// to which unfold copies it, in the order of the window's pixels, starting from 0.
void fold(const Call& call, const float* patches, const ops::Window& w, int64_t group, const View<float>& images);

namespace fast {
void gemm(const Call& call);
void fill(const Call& call);
}  // namespace fast

// Holds the patches of a few images: about 6 MiB, so that they are still in the cache when the product reads them. Sums
// over images run piece by piece, so the size affects bits and must be a constant.
class Patches {
 public:
  Patches(const ops::Window& window, int64_t images)
      : window_(window),
        each_(
            std::clamp<int64_t>(kBytes / 4 / (window.out_pixels() * window.patch()), 1, std::max<int64_t>(images, 1))),
        values_(static_cast<size_t>(each_ * window.out_pixels() * window.patch())),
        buffer_(nullptr, reinterpret_cast<std::byte*>(values_.data())) {}

  int64_t images_each() const { return each_; }
  float* data() { return values_.data(); }
  // Returns a matrix with one patch per row.
  mk_tensor of(int64_t images) { return sdk::matrix(&buffer_, images * window_.out_pixels(), window_.patch()); }

 private:
  static constexpr int64_t kBytes = int64_t{6} << 20;
  ops::Window window_;
  int64_t each_;
  std::vector<float> values_;
  mk_buffer buffer_;
};

template <class T>
View<T> some_of(const View<T>& images, int64_t first, int64_t count) {
  return {images.row(first), count, images.columns, images.stride};
}

inline mk_tensor images_of(const mk_tensor& t, int64_t first, int64_t count) {
  return sdk::matrix(t.buffer, count, t.columns, t.row_stride, t.offset + first * t.row_stride);
}

// Returns a view with one row per pixel. The rows of the images must be contiguous.
inline mk_tensor pixels_of(const mk_tensor& t, int64_t channels) {
  return sdk::matrix(t.buffer, t.rows * (t.columns / channels), channels, channels, t.offset);
}

// Returns the filters of one group as a matrix with one column per filter.
inline mk_tensor filters_of(const mk_tensor& t, const ops::Window& w, int64_t group) {
  const int64_t each = t.columns / w.groups;
  return sdk::matrix(t.buffer, t.rows, each, t.row_stride, t.offset + group * each);
}

inline bool side_by_side(const mk_tensor& t) { return t.rows <= 1 || t.row_stride == t.columns; }

}  // namespace mokume::host
