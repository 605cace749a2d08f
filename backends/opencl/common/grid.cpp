#include "common/grid.hpp"

#include <algorithm>
#include <limits>

#include "platforms/describe.hpp"

namespace mokume::opencl {
namespace {

constexpr int64_t kElementsEach = 8192;  // a work-group of PoCL costs about as much as 100 elements
constexpr int64_t kGroup = 64;

// Returns a group's size in the first dimension: the smallest power of two >= `count`, but at most kGroup.
int64_t abreast(int64_t count) {
  int64_t items = 1;
  while (items < count && items < kGroup) items *= 2;
  return items;
}

}  // namespace

bool uses_vectors(const mk_device& device) { return device.choices.map == "vector"; }

int run_width(const mk_device& device) { return uses_vectors(device) ? device.vector_width : 1; }

int run_width(const mk_device& device, int64_t columns) {
  return uses_vectors(device) ? device.vector_width : row_width(device, columns);
}

// Returns the width that needs the fewest steps.
int row_width(const mk_device& device, int64_t columns) {
  if (device.info.kind == MK_DEVICE_GPU) return columns < 4 ? 1 : 4;
  int best = run_width(device);
  const auto steps = [&](int width) { return columns / width + columns % width; };
  for (const int width : {8, 4})
    if (width < best && steps(width) < steps(best)) best = width;
  return best;
}

int channel_width(const mk_device& device, int64_t channels) {
  // Two work-items of a GPU must not write the same channels.
  if (device.info.kind == MK_DEVICE_GPU) return channels % 4 == 0 ? 4 : 1;
  for (const int width : {16, 8, 4})
    if (width <= run_width(device) && width <= channels) return width;
  return 1;
}

// Where a vector of 16 takes as long as two of 8, full half vectors need fewer steps than partly filled whole ones: on
// a Zen 4, they are faster by a factor of 1.17 for 24 channels. On a Zen 5, whole vectors are faster by a factor of 1.6
// (bench/notes/convolution-shapes.md).
int filters_width(const mk_device& device, int64_t channels) {
  const int width = channel_width(device, channels);
  constexpr int kHalf = 8;
  const bool halves = width == 2 * kHalf && device.halves_vectors;
  return halves && round_up(channels, kHalf) < round_up(channels, width) ? kHalf : width;
}

BuiltIn for_width(const char* name, const char* source, int width) {
  const std::string text = std::to_string(width);
  return {name + ("/" + text), source, "-DVW=" + text};
}

BuiltIn for_views(const mk_device& device, const char* name, const char* source, int width,
                  std::initializer_list<View> views, int64_t most) {
  const auto aligned = [](const View& v) { return v.offset % 4 == 0 && v.step % 4 == 0; };
  BuiltIn program = for_width(name, source, width);
  if (width == 4 && device.info.kind == MK_DEVICE_GPU && most <= std::numeric_limits<uint32_t>::max() &&
      std::all_of(views.begin(), views.end(), aligned)) {
    program.name += " aligned";
    program.options += " -DALIGNED";
  }
  return program;
}

RunLaunch::RunLaunch(const mk_device& device, int64_t rows, int64_t columns, int64_t unit)
    : grid{rows, columns, 1, unit}, range{} {
  if (uses_vectors(device)) {
    grid.columns_each = std::min(columns, kElementsEach);
    grid.rows_each = std::clamp<int64_t>(kElementsEach / columns, 1, rows);
  } else {
    grid.columns_each = std::max<int64_t>(unit, row_width(device, columns));
    range.local[0] = abreast(divide_up(columns, grid.columns_each));
    range.local[1] = kGroup / range.local[0];
    grid.rows_each = divide_up(rows, kMostGroups[1] * range.local[1]);
  }
  range.global = {divide_up(columns, grid.columns_each), divide_up(rows, grid.rows_each), 1};
}

ImageLaunch::ImageLaunch(const mk_device& device, int64_t rows, int64_t width, int64_t channels)
    : grid{rows, 1, 1, 1}, range{} {
  int64_t columns_each = 1, channels_each = 1;
  if (uses_vectors(device)) {
    channels_each = channels;
    columns_each = std::clamp<int64_t>(kElementsEach / channels, 1, width);
    grid.rows_each = std::clamp<int64_t>(kElementsEach / channels / width, 1, rows);
  } else {
    channels_each = channel_width(device, channels);
    range.local[0] = abreast(divide_up(channels, channels_each));
    range.local[1] = kGroup / range.local[0];
    columns_each = divide_up(width, kMostGroups[1] * range.local[1]);
    grid.rows_each = divide_up(rows, kMostGroups[2]);
  }
  grid.columns_each = narrow(columns_each);
  grid.channels_each = narrow(channels_each);
  range.global = {divide_up(channels, channels_each), divide_up(width, columns_each), divide_up(rows, grid.rows_each)};
}

WindowSides sides_of(const ops::Window& w, int64_t out_channels) {
  return {.height = narrow(w.height),
          .width = narrow(w.width),
          .channels = narrow(w.channels),
          .kernel_h = narrow(w.kernel_h),
          .kernel_w = narrow(w.kernel_w),
          .stride_h = narrow(w.stride_h),
          .stride_w = narrow(w.stride_w),
          .pad_h = narrow(w.pad_h),
          .pad_w = narrow(w.pad_w),
          .out_h = narrow(w.out_height()),
          .out_w = narrow(w.out_width()),
          .out_channels = narrow(out_channels)};
}

}  // namespace mokume::opencl
