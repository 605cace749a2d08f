#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "data/images/area.hpp"
#include "data/images/picture_image.hpp"
#include "sdk/error.hpp"

namespace mokume::data {
namespace {

using Histogram = std::array<uint64_t, 256>;
using Steps = std::vector<std::string>;  // descriptions of the conversion steps

constexpr double kLeastContrast = 16;  // a picture with less contrast between ground and ink counts as empty

struct Drawing {
  Cut box;
  double ground = 0, ink = 255;
};

// Returns the lower median of the values from `first` to `last`, or nothing if there are no values.
std::optional<double> median(const Histogram& histogram, size_t first = 0, size_t last = 255) {
  uint64_t total = 0, seen = 0;
  for (size_t v = first; v <= last; ++v) total += histogram[v];
  for (size_t v = first; v <= last; ++v) {
    seen += histogram[v];
    if (seen > 0 && 2 * seen >= total) return static_cast<double>(v);
  }
  return std::nullopt;
}

// Returns 0 for an empty histogram.
double mean(const Histogram& histogram) {
  double sum = 0, count = 0;
  for (size_t v = 0; v < 256; ++v) {
    sum += static_cast<double>(histogram[v]) * static_cast<double>(v);
    count += static_cast<double>(histogram[v]);
  }
  return count > 0 ? sum / count : 0;
}

bool has_bright_border(const Grey& grey) {
  const size_t edge = std::max<size_t>(1, std::min(grey.width, grey.height) / 16);
  if (grey.width <= 2 * edge || grey.height <= 2 * edge) return false;
  Histogram border{}, rest{};
  const uint8_t* pixel = grey.pixels.data();
  for (size_t y = 0; y < grey.height; ++y)
    for (size_t x = 0; x < grey.width; ++x) {
      const bool inside = x >= edge && x < grey.width - edge && y >= edge && y < grey.height - edge;
      ++(inside ? rest : border)[*pixel++];
    }
  return *median(border) > mean(rest);
}

// Returns the highest value of the darker class, at the threshold with the largest variance between the classes.
std::optional<size_t> otsu_threshold(const Histogram& histogram) {
  const double all = static_cast<double>(std::accumulate(histogram.begin(), histogram.end(), uint64_t{0}));
  const double sum = mean(histogram) * all;
  double best = 0, dark = 0, dark_sum = 0;
  std::optional<size_t> threshold;
  for (size_t v = 0; v < 255; ++v) {
    dark += static_cast<double>(histogram[v]);
    dark_sum += static_cast<double>(histogram[v]) * static_cast<double>(v);
    if (dark == 0 || dark == all) continue;
    const double apart = dark_sum / dark - (sum - dark_sum) / (all - dark);
    const double between = dark * (all - dark) * apart * apart;
    if (between > best) best = between, threshold = v;
  }
  return threshold;
}

// Finds a drawing that is light on dark. Returns nothing without sufficient contrast.
std::optional<Drawing> find_drawing(const Grey& grey) {
  Histogram histogram{};
  for (const uint8_t v : grey.pixels) ++histogram[v];
  const auto threshold = otsu_threshold(histogram);
  if (!threshold) return std::nullopt;
  Drawing found{{}, *median(histogram, 0, *threshold), *median(histogram, *threshold + 1)};
  if (found.ink - found.ground < kLeastContrast) return std::nullopt;
  size_t left = grey.width, right = 0, top = grey.height, bottom = 0;
  for (size_t y = 0; y < grey.height; ++y)
    for (size_t x = 0; x < grey.width; ++x) {
      if (grey.pixels[y * grey.width + x] <= *threshold) continue;
      left = std::min(left, x), right = std::max(right, x);
      top = std::min(top, y), bottom = y;
    }
  found.box = {left, top, right - left + 1, bottom - top + 1};
  return found;
}

float rounded(double value) { return static_cast<float>(std::lround(std::clamp(value, 0.0, 255.0))); }

// Returns the position on an axis of `size` at which the centre of mass of `drawing` is closest to the middle.
size_t centred(double centre, size_t drawing, size_t size) {
  const double first = std::round(static_cast<double>(size) / 2 - centre);
  return static_cast<size_t>(std::clamp(first, 0.0, static_cast<double>(size - drawing)));
}

// Places `drawing` on black with its centre of mass in the middle.
std::vector<float> place_by_mass(const Scaled& drawing, size_t width, size_t height) {
  double mass = 0, mass_x = 0, mass_y = 0;
  for (size_t y = 0; y < drawing.height; ++y)
    for (size_t x = 0; x < drawing.width; ++x) {
      const double v = drawing.values[y * drawing.width + x];
      mass += v, mass_x += v * (static_cast<double>(x) + 0.5), mass_y += v * (static_cast<double>(y) + 0.5);
    }
  if (!(mass > 0)) mass = 1;
  const size_t left = centred(mass_x / mass, drawing.width, width),
               top = centred(mass_y / mass, drawing.height, height);
  std::vector<float> values(width * height);
  for (size_t y = 0; y < drawing.height; ++y)
    for (size_t x = 0; x < drawing.width; ++x)
      values[(top + y) * width + left + x] = rounded(drawing.values[y * drawing.width + x]);
  return values;
}

std::vector<float> rounded(const std::vector<double>& values) {
  std::vector<float> result;
  for (const double v : values) result.push_back(rounded(v));
  return result;
}

std::vector<float> grey_image(const Picture& picture, size_t width, size_t height, Steps& steps) {
  Grey grey = grey_of(picture);
  if (picture.channels == 3) steps.push_back("grey by luminance");
  if (has_bright_border(grey)) {
    for (uint8_t& v : grey.pixels) v = static_cast<uint8_t>(255 - v);
    steps.push_back("inverted");
  }
  if (grey.width == width && grey.height == height) {
    steps.push_back("used unchanged");
    return {grey.pixels.begin(), grey.pixels.end()};
  }
  const auto drawing = find_drawing(grey);
  if (!drawing) {
    steps.push_back(fmt::format("nothing is drawn on it, whole picture scaled to {} x {}", width, height));
    return rounded(
        average_areas(grey.pixels, grey.width, 1, {0, 0, grey.width, grey.height}, width, height, spread(0, 255))
            .values);
  }
  const Cut& box = drawing->box;
  // The drawing may take 20/28 of each side.
  const double room_x = std::max(1.0, std::floor(static_cast<double>(width) * 20 / 28)),
               room_y = std::max(1.0, std::floor(static_cast<double>(height) * 20 / 28));
  const double scale = std::min(room_x / static_cast<double>(box.width), room_y / static_cast<double>(box.height));
  const auto scaled = [&](size_t side) {
    return static_cast<size_t>(std::max(1.0, std::round(scale * static_cast<double>(side))));
  };
  const Scaled small = average_areas(grey.pixels, grey.width, 1, box, scaled(box.width), scaled(box.height),
                                     spread(drawing->ground, drawing->ink));
  steps.push_back(fmt::format("cropped to {} x {} at ({}, {})", box.width, box.height, box.x, box.y));
  if (drawing->ground > 0 || drawing->ink < 255)
    steps.push_back(fmt::format("levels {} to {} spread to 0 to 255", drawing->ground, drawing->ink));
  steps.push_back(fmt::format("{} x {} by area, centred by mass in {} x {}", small.width, small.height, width, height));
  return place_by_mass(small, width, height);
}

std::vector<float> plain_image(const Picture& picture, const Shape& shape, Steps& steps) {
  const auto w = static_cast<size_t>(picture.width), h = static_cast<size_t>(picture.height),
             width = static_cast<size_t>(shape.width), height = static_cast<size_t>(shape.height);
  const bool to_grey = shape.channels == 1 && picture.channels == 3;
  if (to_grey) steps.push_back("grey by luminance");
  const size_t channels = to_grey ? 1 : static_cast<size_t>(picture.channels);
  const size_t copies = static_cast<size_t>(shape.channels) / channels;  // repeats grey in a colour image
  const std::vector<uint8_t>& pixels = to_grey ? grey_of(picture).pixels : picture.pixels;
  std::vector<float> values;
  values.reserve(width * height * channels * copies);
  if (w == width && h == height) {
    steps.push_back("used unchanged");
    for (const uint8_t v : pixels) values.insert(values.end(), copies, static_cast<float>(v));
    return values;
  }
  const Cut cut = middle(w, h, width, height);
  if (cut.width != w || cut.height != h)
    steps.push_back(fmt::format("cropped to the middle {} x {}", cut.width, cut.height));
  steps.push_back(fmt::format("{} x {} by area", width, height));
  for (const double v : average_areas(pixels, w, channels, cut, width, height, spread(0, 255)).values)
    values.insert(values.end(), copies, rounded(v));
  return values;
}

ModelImage model_image(const Picture& picture, const Shape& shape, bool plain) {
  if (shape.channels != 1 && shape.channels != 3)
    throw Error(MK_INVALID_ARGUMENT, fmt::format("the model's images have {} channels, and a picture has 1 (grey) or 3 "
                                                 "(red, green, blue): predict its rows with --data SPEC",
                                                 shape.channels));
  ModelImage image;
  Steps steps;
  if (!picture.note.empty()) steps.push_back(picture.note);
  image.values = plain || shape.channels == 3
                     ? plain_image(picture, shape, steps)
                     : grey_image(picture, static_cast<size_t>(shape.width), static_cast<size_t>(shape.height), steps);
  image.how = fmt::format("{}: {} x {} {}; {}", picture.name, picture.width, picture.height,
                          picture.channels == 1 ? "grey" : "RGB", fmt::join(steps, ", "));
  return image;
}

}  // namespace

ModelImage to_model_image(const Picture& picture, const Shape& shape) { return model_image(picture, shape, false); }

ModelImage to_plain_image(const Picture& picture, const Shape& shape) { return model_image(picture, shape, true); }

std::string preview(const std::vector<float>& values, const Shape& shape, int32_t columns) {
  constexpr std::string_view kRamp = " .:-=+*#%@";
  const auto width = static_cast<size_t>(shape.width), height = static_cast<size_t>(shape.height),
             channels = static_cast<size_t>(shape.channels);
  std::vector<uint8_t> grey(width * height);
  for (size_t i = 0; i < grey.size(); ++i) {
    float sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += values[i * channels + c];
    grey[i] = static_cast<uint8_t>(rounded(static_cast<double>(sum) / static_cast<double>(channels)));
  }
  const size_t across = std::min(width, static_cast<size_t>(std::max(1, columns)));
  const size_t lines = std::max<size_t>(1, height * across / width / 2);  // a character is twice as tall as wide
  const Scaled small = average_areas(grey, width, 1, {0, 0, width, height}, across, lines, spread(0, 255));
  std::string text;
  for (size_t y = 0; y < lines; ++y) {
    for (size_t x = 0; x < across; ++x)
      text += kRamp[static_cast<size_t>(std::lround(small.values[y * across + x] / 255 * 9))];
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace mokume::data
