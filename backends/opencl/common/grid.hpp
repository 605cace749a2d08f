// How the kernels that touch each element a few times share their elements: large parts, a vector at a time, on CPUs;
// one element to a work-item on GPUs. Which of the two is the recorded choice `map`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "runtime/device.hpp"

namespace mokume::opencl {

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

bool wide(const mk_device& device);

// The VW of kernels that go over rows (runs.cl), and of those that go over `channels` (windows.cl: VW <= channels).
int run_width(const mk_device& device);
// Of kernels that go over short rows, whose last columns are done one by one: the width that needs the fewest steps.
int row_width(const mk_device& device, int64_t columns);
int channel_width(const mk_device& device, int64_t channels);

// A program of kernels/*.cl, built for VW = width.
BuiltIn for_width(const mk_device& device, const char* theme, std::string (*source)(), int width);

// rows x columns: see FOR_EACH_RUN in runs.cl.
struct Share {
  int64_t rows_each = 1, columns_each = 1;
  std::array<int64_t, 3> global{}, local{1, 1, 1};
};

// Both sides at least 1. `unit`: the columns of a work-item of a GPU.
Share share(const mk_device& device, int64_t rows, int64_t columns, int64_t unit = 1);

// rows of pixels, of `width` pixels of `channels`: see FOR_EACH_ROW in windows.cl.
struct ImageShare {
  int64_t rows, rows_each = 1;
  int32_t columns_each = 1, channels_each = 1;
  std::array<int64_t, 3> global{}, local{1, 1, 1};
};

ImageShare share_images(const mk_device& device, int64_t rows, int64_t width, int64_t channels);

// The memory of a view; NULL for none.
inline cl_mem memory(const mk_tensor& t) { return t.buffer == nullptr ? nullptr : t.buffer->memory.get(); }

// Runs a kernel whose arguments begin like those of elementwise.cl over a view.
template <class... Arguments>
void run_over(Launcher& launcher, cl_kernel kernel, const Share& s, const mk_tensor& view,
              const Arguments&... arguments) {
  launcher.run(kernel, s.global, s.local, view.rows, view.columns, s.rows_each, s.columns_each, arguments...);
}

}  // namespace mokume::opencl
