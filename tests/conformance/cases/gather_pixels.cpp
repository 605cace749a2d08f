#include "pixels.hpp"

namespace mokume::conformance {
namespace {

Case pixels_case(const PixelCase& c, const std::string& kind, float (*change)(float)) {
  return {c.name + kind, c.size, [c, change] {
            Problem p;
            const mk_tensor x = p.random(c.images, c.map.image(), c.image), row = c.rows(p), column = c.columns(p);
            if (change != nullptr) p.change(x, change);
            p.op = ops::gather_pixels(x, row, column, c.map, p.unwritten(c.images, c.map.out_image(), c.shown));
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const PixelCase& c : pixel_cases()) {
    list.push_back(pixels_case(c, "", nullptr));
    if (c.size == Size::tiny) list.push_back(pixels_case(c, "_nans", with_some_nans));
  }
  return list;
}

const AddCases kAdded{{MK_OP_GATHER_PIXELS, cases(), nullptr}};

}  // namespace
}  // namespace mokume::conformance
