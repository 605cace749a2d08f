#include "data/images/area.hpp"

#include <algorithm>
#include <cmath>

namespace mokume::data {
namespace {

// Scales an axis from `from` to `to` places. Calls body(source place, share) for every source place that target place
// `i` covers.
template <class Body>
void for_covered(size_t i, size_t from, size_t to, Body&& body) {
  const double begin = static_cast<double>(i) * static_cast<double>(from) / static_cast<double>(to);
  const double end = static_cast<double>(i + 1) * static_cast<double>(from) / static_cast<double>(to);
  for (auto s = static_cast<size_t>(begin); s < from && static_cast<double>(s) < end; ++s) {
    const double share = std::min(end, static_cast<double>(s + 1)) - std::max(begin, static_cast<double>(s));
    if (share > 0) body(s, share / (end - begin));
  }
}

}  // namespace

Levels spread(double ground, double ink) {
  Levels levels{};
  for (size_t v = 0; v < 256; ++v)
    levels[v] = std::clamp((static_cast<double>(v) - ground) / (ink - ground), 0.0, 1.0) * 255;
  return levels;
}

Grey grey_of(const Picture& picture) {
  Grey grey{static_cast<size_t>(picture.width), static_cast<size_t>(picture.height), {}};
  if (picture.channels == 1) {
    grey.pixels = picture.pixels;
    return grey;
  }
  grey.pixels.resize(grey.width * grey.height);
  const uint8_t* rgb = picture.pixels.data();
  for (uint8_t& pixel : grey.pixels) {
    pixel = static_cast<uint8_t>(std::lround(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]));
    rgb += 3;
  }
  return grey;
}

Cut middle(size_t width, size_t height, size_t to_width, size_t to_height) {
  Cut cut{0, 0, width, height};
  if (width * to_height > height * to_width)
    cut.width = std::max<size_t>(1, height * to_width / to_height);
  else
    cut.height = std::max<size_t>(1, width * to_height / to_width);
  cut.x = (width - cut.width) / 2, cut.y = (height - cut.height) / 2;
  return cut;
}

Scaled average_areas(const std::vector<uint8_t>& pixels, size_t row_width, size_t channels, const Cut& cut,
                     size_t width, size_t height, const Levels& levels) {
  Scaled out{width, height, std::vector<double>(width * height * channels)};
  for (size_t y = 0; y < height; ++y)
    for_covered(y, cut.height, height, [&](size_t sy, double row_share) {
      const uint8_t* row = pixels.data() + ((cut.y + sy) * row_width + cut.x) * channels;
      for (size_t x = 0; x < width; ++x) {
        double* to = out.values.data() + (y * width + x) * channels;
        for_covered(x, cut.width, width, [&](size_t sx, double share) {
          for (size_t c = 0; c < channels; ++c) to[c] += row_share * share * levels[row[sx * channels + c]];
        });
      }
    });
  return out;
}

}  // namespace mokume::data
