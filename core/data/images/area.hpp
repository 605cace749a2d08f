// Scales parts of pictures: every new pixel is the average of the area that it covers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/images/picture.hpp"

namespace mokume::data {

using Levels = std::array<double, 256>;  // new value for each stored value
// Maps `ground` and everything below it to 0, `ink` and everything above it to 255, and values in between linearly.
Levels spread(double ground, double ink);

struct Grey {
  size_t width = 0, height = 0;
  std::vector<uint8_t> pixels;
};
// Computes the luminance (ITU-R BT.709) of the stored values.
Grey grey_of(const Picture& picture);

struct Cut {
  size_t x = 0, y = 0, width = 0, height = 0;
};
// Returns the largest cut from the middle of width x height pixels with the proportions of to_width x to_height.
Cut middle(size_t width, size_t height, size_t to_width, size_t to_height);

// Holds rows and columns of doubles, channels innermost.
struct Scaled {
  size_t width = 0, height = 0;
  std::vector<double> values;
};
// Scales the cut of `pixels`, which holds rows of `row_width` pixels, channels innermost. Only the result takes memory.
Scaled average_areas(const std::vector<uint8_t>& pixels, size_t row_width, size_t channels, const Cut& cut,
                     size_t width, size_t height, const Levels& levels);

}  // namespace mokume::data
