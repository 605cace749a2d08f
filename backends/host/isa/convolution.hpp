// Declares a loop of multiply-adds (see Loops) over the windows of a convolution.
#pragma once

#include <cstdint>

namespace mokume::host {

// Returns the number of columns of weights and biases in WindowRow, which is at least a whole vector.
constexpr int64_t padded_channels(int64_t channels) { return channels <= 4 ? 4 : channels < 8 ? 8 : channels; }

// Describes windows at equal distances, as in a row of a convolution's output: out = activation(x * weight + bias).
struct WindowRow {
  const float* x;  // the first element under the first window
  int64_t x_step;  // the distance from a window to the next
  int64_t x_line;  // the distance from a line of the window to the line below it
  int64_t x_next;  // the distance from an element of a line to the next
  int64_t windows;
  int64_t lines, line;  // the lines of a window, and the elements of each line
  const float* weight;  // lines * line rows of padded_channels(channels) floats, weight_step apart
  int64_t weight_step;
  int64_t planes = 1;  // windows may have lines in several images, which these distances separate
  int64_t x_plane = 0, weight_plane = 0;
  const float* bias;  // null if there is none
  bool relu;
  bool add;    // continues the sums that `out` holds
  float* out;  // windows x channels, out_step apart
  int64_t out_step;
  int64_t channels;
};

}  // namespace mokume::host
