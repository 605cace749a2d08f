// Lists the windows that the cases of convolutions and max pools share.
#pragma once

#include <string>
#include <vector>

#include "problem.hpp"

namespace mokume::conformance {

struct WindowCase {
  std::string name;
  Size size;
  int64_t images;
  ops::Window window;
  Layout image{}, windows{};  // `image` has one image per row; `windows` holds the results
};

inline std::vector<WindowCase> window_cases() {
  return {
      {"1x1", Size::tiny, 1, {1, 1, 1, 1, 1, 1, 1, 0, 0}},
      {"5x7x3_padded", Size::tiny, 2, {5, 7, 3, 3, 3, 1, 1, 1, 1}},
      {"6x5_not_square_strided", Size::tiny, 3, {6, 5, 1, 2, 3, 2, 1, 0, 0}, {3, 5}, {1, 2}},
      {"8x9x4_remainder", Size::tiny, 2, {8, 9, 4, 3, 2, 2, 2, 0, 0}, {0, 1}, {5, 0}},
      {"7x6x2_pad_2_stride_3", Size::tiny, 2, {7, 6, 2, 3, 4, 3, 2, 2, 1}, {2, 0}, {0, 3}},
      {"4x3x5_whole_image", Size::tiny, 3, {4, 3, 5, 4, 3, 1, 1, 0, 0}, {1, 1}, {1, 1}},
      {"2x3x2_mostly_padding", Size::tiny, 2, {2, 3, 2, 5, 5, 1, 1, 4, 4}},
      {"9x8x3_gaps_between_windows", Size::tiny, 2, {9, 8, 3, 2, 2, 4, 3, 0, 0}},
      {"9x8x5_gaps_between_windows", Size::tiny, 2, {9, 8, 5, 2, 2, 4, 3, 0, 0}, {2, 0}, {0, 1}},
      {"7x8x6_single_pixels_strided", Size::tiny, 2, {7, 8, 6, 1, 1, 2, 2, 0, 0}},
      {"11x10x5_5x4_stride_3_2", Size::tiny, 2, {11, 10, 5, 5, 4, 3, 2, 2, 1}, {0, 1}, {1, 0}},
      {"1x17x3_one_row", Size::tiny, 3, {1, 17, 3, 1, 5, 1, 2, 0, 2}, {0, 2}, {3, 1}},
      {"3x3x129", Size::tiny, 1, {3, 3, 129, 2, 2, 1, 1, 1, 0}, {7, 0}, {1, 4}},
      {"2x2x31", Size::tiny, 3, {2, 2, 31, 2, 2, 2, 2, 0, 0}},
      {"9x8_3x3", Size::tiny, 3, {9, 8, 1, 3, 3, 1, 1, 0, 0}},
      {"9x8_3x3_padded", Size::tiny, 3, {9, 8, 1, 3, 3, 1, 1, 1, 1}},
      {"10x10_3x3_halving", Size::tiny, 2, {10, 10, 1, 3, 3, 2, 2, 0, 0}},
      {"5x6x2_single_pixels", Size::tiny, 2, {5, 6, 2, 1, 1, 1, 1, 0, 0}},
      {"4x5x20_3x3", Size::tiny, 2, {4, 5, 20, 3, 3, 1, 1, 0, 0}},
      {"2x9x1_wide_strided", Size::tiny, 2, {2, 9, 1, 1, 4, 1, 3, 0, 3}},
      {"no_images", Size::tiny, 0, {5, 4, 2, 3, 3, 1, 1, 1, 1}, {3, 1}, {1, 2}},
      {"28x28_5x5", Size::normal, 33, {28, 28, 1, 5, 5, 1, 1, 2, 2}},
      {"14x15x32_strided", Size::normal, 9, {14, 15, 32, 3, 3, 2, 2, 1, 1}, {3, 1}, {1, 3}},
      {"32x32x3", Size::normal, 17, {32, 32, 3, 3, 3, 1, 1, 1, 1}, {1, 0}, {}},
      {"9x7x130_2x2", Size::normal, 11, {9, 7, 130, 2, 2, 2, 2, 1, 0}},
  };
}

// Returns windows with less and more padding after the image than before it, windows that reach beyond the padding (as
// with PyTorch's ceil_mode), and windows without padding.
inline std::vector<WindowCase> lopsided_cases() {
  return {
      {"6x7x3_beyond_the_image", Size::tiny, 2, {6, 7, 3, 3, 4, 2, 3, 1, 1, 1, 1, 1, 1}, {1, 2}, {3, 0}},
      {"6x5x17_none_below", Size::tiny, 2, {6, 5, 17, 3, 2, 2, 1, 2, 1, 1, 1, -2, -1}},
  };
}

}  // namespace mokume::conformance
