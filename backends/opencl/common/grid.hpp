// Divides the elements of kernels that access each element a few times. On CPUs, a work-item takes many elements, a
// vector at a time; on GPUs, it takes one. The recorded choice `map` selects between the two.
#pragma once

#include <cstdint>
#include <string>

#include "common/args.h"
#include "runtime/device.hpp"
#include "runtime/launch.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::opencl {

inline constexpr int64_t kFloat = sizeof(float);

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

bool uses_vectors(const mk_device& device);

// Return VW for kernels over rows (runs.cl), for kernels over short rows, which process the last columns one by one,
// and for kernels over `channels` (windows.cl: VW <= channels).
int run_width(const mk_device& device);
int row_width(const mk_device& device, int64_t columns);
int channel_width(const mk_device& device, int64_t channels);
// Returns VW for loops that multiply and add and touch little memory.
int filters_width(const mk_device& device, int64_t channels);

BuiltIn for_width(const mk_device& device, const char* name, const char* source, int width);

// Both sides are at least 1. `unit` is the number of columns of a GPU's work-item.
struct RunLaunch {
  RunLaunch(const mk_device& device, int64_t rows, int64_t columns, int64_t unit = 1);
  RunGrid grid;
  Range range;
};

// For whole rows: a work-item takes `many` rows on CPUs, and one row on GPUs.
struct RowsLaunch {
  RowsLaunch(const mk_device& device, int64_t rows, int64_t many)
      : rows_each(uses_vectors(device) ? many : 1),
        range{{divide_up(rows, rows_each), 1, 1}, {uses_vectors(device) ? 1 : 32, 1, 1}} {}
  int64_t rows_each;
  Range range;
};

// For `rows` rows of `width` pixels with `channels` channels each.
struct ImageLaunch {
  ImageLaunch(const mk_device& device, int64_t rows, int64_t width, int64_t channels);
  ImageGrid grid;
  Range range;
};

inline View view(const mk_tensor& t) { return {t.offset, t.row_stride}; }

// Converts a side for kernels; check_window() has verified that it fits.
constexpr i32 narrow(int64_t side) { return static_cast<i32>(side); }
constexpr float rounded(double setting) { return static_cast<float>(setting); }

WindowSides sides_of(const ops::Window& window, int64_t out_channels = 0);

}  // namespace mokume::opencl
