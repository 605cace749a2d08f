// Lists the shapes that the cases of avg_pool and its gradient share.
#pragma once

#include <string>
#include <vector>

#include "problem.hpp"

namespace mokume::conformance {

struct AverageCase {
  std::string name;
  Size size;
  int64_t images;
  ops::AvgPool pool;
  Layout image{}, cells{};
};

inline std::vector<AverageCase> average_cases() {
  return {
      {"1x1", Size::tiny, 1, {1, 1, 1, 1, 1}},
      {"8x6x3_to_2x3", Size::tiny, 3, {8, 6, 3, 2, 3}},
      {"7x7x5_to_1x1_strided", Size::tiny, 4, {7, 7, 5, 1, 1}, {3, 2}, {1, 4}},
      {"7x5x2_to_3x4_cells_overlap", Size::tiny, 2, {7, 5, 2, 3, 4}, {1, 0}, {0, 1}},
      {"2x3x3_to_5x7_more_cells_than_pixels", Size::tiny, 2, {2, 3, 3, 5, 7}, {0, 1}, {2, 0}},
      {"5x4x17_same_size", Size::tiny, 1, {5, 4, 17, 5, 4}},
      {"1x31x1_to_1x9", Size::tiny, 3, {1, 31, 1, 1, 9}},
      {"3x3x129_to_2x1", Size::tiny, 2, {3, 3, 129, 2, 1}},
      {"no_images", Size::tiny, 0, {4, 4, 2, 2, 2}, {1, 3}, {2, 1}},
      {"28x27x16_to_7x7", Size::normal, 13, {28, 27, 16, 7, 7}, {1, 1}, {2, 2}},
      {"13x13x256_to_6x6", Size::normal, 3, {13, 13, 256, 6, 6}},
      {"64x64x3_to_1x1", Size::normal, 9, {64, 64, 3, 1, 1}},
      {"5x6x3_window_2x2", Size::tiny, 3, {5, 6, 3, 2, 3, 2, 2, 2, 2}},
      {"5x6x3_window_3x2_padded", Size::tiny, 2, {5, 6, 3, 6, 4, 3, 2, 1, 2, 2, 1, 0}, {1, 0}, {0, 1}},
      {"5x6x3_window_3x2_counts_padding", Size::tiny, 2, {5, 6, 3, 6, 4, 3, 2, 1, 2, 2, 1, 1}, {0, 1}, {2, 0}},
      {"6x7x17_window_beyond_padding", Size::tiny, 2, {6, 7, 17, 3, 4, 3, 3, 3, 2, 1, 0, 1}},
      {"6x7x2_window_beyond_the_image", Size::tiny, 2, {6, 7, 2, 3, 4, 3, 3, 3, 2, 1, 0, 0}},
      {"9x8x4_windows_apart", Size::tiny, 2, {9, 8, 4, 3, 3, 2, 2, 4, 3, 0, 0, 1}},
      {"no_images_window", Size::tiny, 0, {4, 4, 2, 3, 3, 2, 2, 1, 1, 0, 0, 1}, {1, 3}, {2, 1}},
      {"28x27x130_window", Size::normal, 5, {28, 27, 130, 14, 14, 3, 3, 2, 2, 1, 1, 1}},
      {"large_32x32x64_to_3x3", Size::large, 257, {32, 32, 64, 3, 3}},
  };
}

// Returns cases for values that are not finite: separate areas, overlapping areas, more areas than pixels, one area.
inline std::vector<AverageCase> special_average_cases(const std::string& name) {
  return {{name + "_apart", Size::tiny, 3, {8, 6, 3, 4, 3}},
          {name + "_overlapping", Size::tiny, 3, {7, 5, 17, 3, 4}},
          {name + "_more_cells_than_pixels", Size::tiny, 2, {2, 3, 3, 5, 7}},
          {name + "_windows", Size::tiny, 2, {7, 5, 17, 4, 3, 3, 3, 2, 2, 1, 1, 1}},
          {name + "_one_cell", Size::tiny, 9, {3, 2, 5, 1, 1}}};
}

}  // namespace mokume::conformance
