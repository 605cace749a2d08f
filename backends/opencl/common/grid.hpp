// Divides elements among the work-items of kernels that access each element only a few times. On CPUs, a work-item
// takes many elements, a vector at a time; on GPUs, it takes one. The recorded choice `map` selects between the two.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "common/args.h"
#include "common/divide.hpp"
#include "runtime/device.hpp"
#include "runtime/launch.hpp"
#include "sdk/ops/window.hpp"

namespace mokume::opencl {

inline constexpr int64_t kFloat = sizeof(float);

bool uses_vectors(const mk_device& device);

// Return VW for three kinds of kernels: kernels over rows (runs.cl), which take four elements on GPUs; kernels that
// process whole rows; and kernels over `channels` (windows.cl), for which VW <= channels.
int row_width(const mk_device& device, int64_t columns);
int run_width(const mk_device& device);
int run_width(const mk_device& device, int64_t columns);  // on GPUs, row_width()
int channel_width(const mk_device& device, int64_t channels);
// Returns VW for loops that multiply and add but access little memory.
int filters_width(const mk_device& device, int64_t channels);

BuiltIn for_width(const char* name, const char* source, int width);

// Returns the program for these views, all that the kernel accesses by vectors. On a GPU, it relies on vectors of four
// that start at multiples of 16 bytes if they do, and if 32 bits hold `most`, the largest count that the kernel
// divides.
BuiltIn for_views(const mk_device& device, const char* name, const char* source, int width,
                  std::initializer_list<View> views, int64_t most = 0);

// Divides a matrix, which must not be empty, among work-items. On a GPU, each work-item takes row_width() columns, or
// `unit` if that is more.
struct RunLaunch {
  RunLaunch(const mk_device& device, int64_t rows, int64_t columns, int64_t unit = 1);
  RunGrid grid;
  Range range;
};

// Divides whole rows among work-items: each takes `many` rows on a CPU and one row on a GPU.
struct RowsLaunch {
  RowsLaunch(const mk_device& device, int64_t rows, int64_t many)
      : rows_each(uses_vectors(device) ? many : 1),
        range{{divide_up(rows, rows_each), 1, 1}, {uses_vectors(device) ? 1 : 32, 1, 1}} {}
  int64_t rows_each;
  Range range;
};

// Divides `rows` rows of `width` pixels with `channels` channels each.
struct ImageLaunch {
  ImageLaunch(const mk_device& device, int64_t rows, int64_t width, int64_t channels);
  ImageGrid grid;
  Range range;
};

// A single row has step 0, which is as aligned as any.
inline View view(const mk_tensor& t) { return {t.offset, t.rows <= 1 ? 0 : t.row_stride}; }

// Converts a side for kernels. check_window() has verified that the side fits.
constexpr i32 narrow(int64_t side) { return static_cast<i32>(side); }
constexpr float rounded(double setting) { return static_cast<float>(setting); }

WindowSides sides_of(const ops::Window& window, int64_t out_channels = 0);

}  // namespace mokume::opencl
