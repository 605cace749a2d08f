#include "common/grid.hpp"

#include "platforms/describe.hpp"

namespace mokume::opencl {
namespace {

constexpr int64_t kElementsEach = 8192;  // a work-group of PoCL costs about as much as 100 elements
constexpr int64_t kGroup = 64;

// Work-items side by side in the first dimension: as many as there is work for.
int64_t abreast(int64_t count) {
  int64_t items = 1;
  while (items < count && items < kGroup) items *= 2;
  return items;
}

}  // namespace

bool wide(const mk_device& device) { return device.choices.map == "vector"; }

int run_width(const mk_device& device) { return wide(device) ? device.vector_width : 1; }

int row_width(const mk_device& device, int64_t columns) {
  int best = run_width(device);
  const auto steps = [&](int width) { return columns / width + columns % width; };
  for (const int width : {8, 4})
    if (width < best && steps(width) < steps(best)) best = width;
  return best;
}

int channel_width(const mk_device& device, int64_t channels) {
  for (const int width : {16, 8, 4})
    if (width <= run_width(device) && width <= channels) return width;
  return 1;
}

BuiltIn for_width(const mk_device& device, const char* theme, std::string (*source)(), int width) {
  const std::string text = std::to_string(width);
  return {theme + ("/" + text), source, "-DVW=" + text + hints(device.info)};
}

Share share(const mk_device& device, int64_t rows, int64_t columns, int64_t unit) {
  Share s;
  if (wide(device)) {
    s.columns_each = std::min(columns, kElementsEach);
    s.rows_each = std::clamp<int64_t>(kElementsEach / columns, 1, rows);
  } else {
    s.columns_each = unit;
    s.local[0] = abreast(divide_up(columns, unit));
    s.local[1] = kGroup / s.local[0];
    s.rows_each = divide_up(rows, kMostGroups[1] * s.local[1]);
  }
  s.global = {divide_up(columns, s.columns_each), divide_up(rows, s.rows_each), 1};
  return s;
}

ImageShare share_images(const mk_device& device, int64_t rows, int64_t width, int64_t channels) {
  ImageShare s;
  s.rows = rows;
  int64_t columns_each = 1, channels_each = 1;
  if (wide(device)) {
    channels_each = channels;
    columns_each = std::clamp<int64_t>(kElementsEach / channels, 1, width);
    s.rows_each = std::clamp<int64_t>(kElementsEach / channels / width, 1, rows);
  } else {
    s.local[0] = abreast(channels);
    s.local[1] = kGroup / s.local[0];
    columns_each = divide_up(width, kMostGroups[1] * s.local[1]);
    s.rows_each = divide_up(rows, kMostGroups[2]);
  }
  s.columns_each = static_cast<int32_t>(columns_each);
  s.channels_each = static_cast<int32_t>(channels_each);
  s.global = {divide_up(channels, channels_each), divide_up(width, columns_each), divide_up(rows, s.rows_each)};
  return s;
}

}  // namespace mokume::opencl
