// Computes the pixels of an augmented image (sdk/ops/augment.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "call.hpp"
#include "sdk/ops/augment.hpp"

namespace mokume::host {

class Augmented {
 public:
  // `image` is the row of x that becomes row r of out.
  Augmented(const mk_op& op, const float* image, int64_t r)
      : a_(ops::augment_of(op)), d_(ops::augment_draw(op, r)), image_(image) {
    if (a_.contrast > 0) shade_ = (1.0F - d_.contrast) * mean();
  }

  // Writes row y of the result if pixels only move.
  void moved_line(int64_t y, float* out) const {
    const int64_t from_y = y + d_.dy, k = a_.channels;
    const int64_t begin = std::max<int64_t>(0, -d_.dx), end = std::min(a_.width, a_.width - d_.dx);
    std::fill_n(out, a_.width * k, 0.0F);
    if (from_y < 0 || from_y >= a_.height || begin >= end) return;
    const float* from = image_ + (d_.flip_y ? a_.height - 1 - from_y : from_y) * a_.width * k;
    if (d_.flip_x) {
      for (int64_t x = begin; x < end; ++x) std::copy_n(from + (a_.width - 1 - x - d_.dx) * k, k, out + x * k);
    } else {
      std::copy_n(from + (begin + d_.dx) * k, (end - begin) * k, out + begin * k);
    }
    const int64_t left = std::max<int64_t>(d_.left, 0), right = std::min(d_.right, a_.width);
    if (y >= d_.top && y < d_.bottom && left < right) std::fill_n(out + left * k, (right - left) * k, 0.0F);
  }

  // Writes row y of the result.
  void line(int64_t y, float* out) const {
    for (int64_t x = 0; x < a_.width; ++x) pixel(y, x, out + x * a_.channels);
  }

 private:
  float at(int64_t y, int64_t x, int64_t k) const {
    if (y < 0 || y >= a_.height || x < 0 || x >= a_.width) return 0.0F;
    y += d_.dy;
    x += d_.dx;
    if (y < 0 || y >= a_.height || x < 0 || x >= a_.width) return 0.0F;
    if (d_.flip_y) y = a_.height - 1 - y;
    if (d_.flip_x) x = a_.width - 1 - x;
    return image_[(y * a_.width + x) * a_.channels + k];
  }

  // Computes a pixel after flips, shift, rotation and brightness.
  void moved(int64_t y, int64_t x, float* out) const {
    if (a_.degrees > 0) {
      rotated(y, x, out);
    } else {
      for (int64_t k = 0; k < a_.channels; ++k) out[k] = at(y, x, k);
    }
    if (a_.brightness > 0)
      for (int64_t k = 0; k < a_.channels; ++k) out[k] = d_.brightness * out[k];
  }

  void rotated(int64_t y, int64_t x, float* out) const {
    const float middle_y = static_cast<float>(a_.height - 1) * 0.5F, middle_x = static_cast<float>(a_.width - 1) * 0.5F;
    const float v = static_cast<float>(y) - middle_y, u = static_cast<float>(x) - middle_x;
    const float from_x = (d_.cosine * u - d_.sine * v) + middle_x, from_y = (d_.sine * u + d_.cosine * v) + middle_y;
    const float left = std::floor(from_x), top = std::floor(from_y), wx = from_x - left, wy = from_y - top;
    const auto x0 = static_cast<int64_t>(left), y0 = static_cast<int64_t>(top);
    for (int64_t k = 0; k < a_.channels; ++k) {
      const float above = (1.0F - wx) * at(y0, x0, k) + wx * at(y0, x0 + 1, k);
      const float below = (1.0F - wx) * at(y0 + 1, x0, k) + wx * at(y0 + 1, x0 + 1, k);
      out[k] = (1.0F - wy) * above + wy * below;
    }
  }

  float brightness_of(const float* pixel) const {
    if (a_.channels == 3) return (0.2989F * pixel[0] + 0.587F * pixel[1]) + 0.114F * pixel[2];
    float sum = 0.0F;
    for (int64_t k = 0; k < a_.channels; ++k) sum += pixel[k];
    return sum * (1.0F / static_cast<float>(a_.channels));
  }

  float mean() const {
    std::vector<float> pixel(static_cast<size_t>(a_.channels));
    float sum = 0.0F;
    for (int64_t y = 0; y < a_.height; ++y) {
      float line = 0.0F;
      for (int64_t x = 0; x < a_.width; ++x) {
        moved(y, x, pixel.data());
        line += brightness_of(pixel.data());
      }
      sum += line;
    }
    return sum * (1.0F / static_cast<float>(a_.height * a_.width));
  }

  void pixel(int64_t y, int64_t x, float* out) const {
    if (y >= d_.top && y < d_.bottom && x >= d_.left && x < d_.right) return void(std::fill_n(out, a_.channels, 0.0F));
    moved(y, x, out);
    if (a_.contrast > 0)
      for (int64_t k = 0; k < a_.channels; ++k) out[k] = d_.contrast * out[k] + shade_;
    if (a_.saturation > 0) {
      const float grey = (1.0F - d_.saturation) * brightness_of(out);
      for (int64_t k = 0; k < a_.channels; ++k) out[k] = d_.saturation * out[k] + grey;
    }
    if (a_.hue > 0) turn_hue(out);
  }

  // Moves a pixel along the circle of colours, on which red, green and blue are at 0, 2 and 4.
  void turn_hue(float* pixel) const {
    const float red = pixel[0], green = pixel[1], blue = pixel[2];
    const float most = std::max({red, green, blue}), range = most - std::min({red, green, blue});
    const float sum = red + green + blue;  // a NaN if a channel is a NaN
    if (!(range > 0.0F) || sum != sum) return;
    float hue = (red - green) / range + 4.0F;
    if (most == green) hue = (blue - red) / range + 2.0F;
    if (most == red) hue = (green - blue) / range;
    hue = hue + d_.hue;
    for (int64_t k = 0; k < 3; ++k) {
      const float at = hue + (k == 0 ? 5.0F : k == 1 ? 3.0F : 1.0F);
      const float place = at - 6.0F * std::floor(at * (1.0F / 6.0F)), ramp = std::min(place, 4.0F - place);
      pixel[k] = most - range * std::clamp(ramp, 0.0F, 1.0F);
    }
  }

  ops::Augment a_;
  ops::AugmentDraw d_;
  const float* image_;
  float shade_ = 0.0F;
};

}  // namespace mokume::host
