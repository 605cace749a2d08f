#include "problem.hpp"

namespace mokume::conformance {
namespace {

struct PixelCase {
  std::string name;
  Size size;
  int64_t images;
  ops::PixelMap map;
  Layout image{}, shown{};
  int32_t turn = 1;  // step between the indices of neighbours; if it is 0, all indices refer to the last pixel

  std::vector<int32_t> side(int64_t count, int64_t pixels) const {
    std::vector<int32_t> indices;
    for (int64_t i = 0; i < count; ++i)
      indices.push_back(static_cast<int32_t>(turn == 0 ? pixels - 1 : (i * turn + i / pixels) % pixels));
    return indices;
  }
  mk_tensor rows(Problem& p) const { return p.indices(side(map.out_h, map.height), image.offset); }
  mk_tensor columns(Problem& p) const { return p.indices(side(map.out_w, map.width), shown.offset); }
};

std::vector<PixelCase> pixel_cases() {
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

Case pixels_case(const PixelCase& c, const std::string& kind, float (*change)(float)) {
  return {c.name + kind, c.size, [c, change] {
            Problem p;
            const mk_tensor x = p.random(c.images, c.map.image(), c.image), row = c.rows(p), column = c.columns(p);
            if (change != nullptr) p.change(x, change);
            p.op = ops::gather_pixels(x, row, column, c.map, p.unwritten(c.images, c.map.out_image(), c.shown));
            return p;
          }};
}

Case grad_case(const PixelCase& c, const std::string& kind, float (*change)(float)) {
  return {c.name + kind, c.size, [c, change] {
            Problem p;
            const mk_tensor grad = p.random(c.images, c.map.out_image(), c.shown), row = c.rows(p),
                            column = c.columns(p);
            if (change != nullptr) p.change(grad, change);
            p.op = ops::gather_pixels_grad(grad, row, column, c.map, p.unwritten(c.images, c.map.image(), c.image));
            return p;
          }};
}

std::vector<Case> cases(decltype(pixels_case)* make, const char* special, float (*change)(float)) {
  std::vector<Case> list;
  for (const PixelCase& c : pixel_cases()) {
    list.push_back(make(c, "", nullptr));
    if (c.size == Size::tiny) list.push_back(make(c, special, change));
  }
  return list;
}

const AddCases kAdded{{MK_OP_GATHER_PIXELS, cases(pixels_case, "_nans", with_some_nans), nullptr}};
const AddCases kGradAdded{
    {MK_OP_GATHER_PIXELS_GRAD, cases(grad_case, "_infinities", with_some_infinities), sum_of_magnitudes}};

}  // namespace
}  // namespace mokume::conformance
