// Declares a loop of multiply-adds (see Loops) over the windows of a convolution.
#pragma once

#include <cstdint>

namespace mokume::host {

// Returns the number of columns of weights and biases in WindowRow, which is at least a whole vector.
constexpr int64_t padded_channels(int64_t channels) { return channels <= 4 ? 4 : channels < 8 ? 8 : channels; }

// Describes neighbouring windows in a row of a convolution's output. Neighbours in a line of a patch are adjacent in x.
struct WindowRow {
  const float* x;  // the first element under the first window; readable for kMostWindowsMore windows past the last
  int64_t x_step;  // the distance from a window to the next
  int64_t x_line;  // the distance from a line of the window to the line below it
  int64_t windows;
  int64_t lines, line;  // the lines of a window, and the elements of each line
  const float* weight;  // lines * line rows of padded_channels(channels) floats, weight_step apart
  int64_t weight_step;
  const float* bias;  // null if there is none
  bool relu;
  float* out;  // windows x channels, contiguous
  int64_t channels;
};

constexpr int64_t kMostWindowsMore = 11;

}  // namespace mokume::host
