// The shapes that the cases of gather_pixels and its gradient share.
#pragma once

#include <string>
#include <vector>

#include "problem.hpp"

namespace mokume::conformance {

struct PixelCase {
  std::string name;
  Size size;
  int64_t images;
  ops::PixelMap map;
  Layout image{}, shown{};
  int32_t turn = 1;  // the step between the indices of two neighbours; 0: all show the last pixel

  std::vector<int32_t> side(int64_t count, int64_t pixels) const {
    std::vector<int32_t> indices;
    for (int64_t i = 0; i < count; ++i)
      indices.push_back(static_cast<int32_t>(turn == 0 ? pixels - 1 : (i * turn + i / pixels) % pixels));
    return indices;
  }
  mk_tensor rows(Problem& p) const { return p.indices(side(map.out_h, map.height), image.offset); }
  mk_tensor columns(Problem& p) const { return p.indices(side(map.out_w, map.width), shown.offset); }
};

inline std::vector<PixelCase> pixel_cases() {
  return {
      {"1x1", Size::tiny, 1, {1, 1, 1, 1, 1}},
      {"5x4x3_to_7x6", Size::tiny, 3, {5, 4, 3, 7, 6}},
      {"5x4x17_to_9x11_strided", Size::tiny, 2, {5, 4, 17, 9, 11}, {3, 2}, {1, 4}, 3},
      {"7x5x2_to_2x3", Size::tiny, 2, {7, 5, 2, 2, 3}, {1, 0}, {0, 1}, 2},
      {"3x3x1_all_show_one", Size::tiny, 2, {3, 3, 1, 4, 5}, {}, {}, 0},
      {"no_images", Size::tiny, 0, {4, 4, 2, 6, 6}, {1, 3}, {2, 1}},
      {"28x27x16_to_32x31", Size::normal, 13, {28, 27, 16, 32, 31}, {1, 1}, {2, 2}},
      {"13x13x129_to_15x15", Size::normal, 3, {13, 13, 129, 15, 15}},
      {"large_32x32x64_to_34x34", Size::large, 257, {32, 32, 64, 34, 34}},
  };
}

}  // namespace mokume::conformance
