#include "pixels.hpp"

namespace mokume::conformance {
namespace {

Case pixels_case(const PixelCase& c, const std::string& kind, float (*change)(float)) {
  return {c.name + kind, c.size, [c, change] {
            Problem p;
            const mk_tensor grad = p.random(c.images, c.map.out_image(), c.shown), row = c.rows(p),
                            column = c.columns(p);
            if (change != nullptr) p.change(grad, change);
            p.op = ops::gather_pixels_grad(grad, row, column, c.map, p.unwritten(c.images, c.map.image(), c.image));
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const PixelCase& c : pixel_cases()) {
    list.push_back(pixels_case(c, "", nullptr));
    if (c.size == Size::tiny) list.push_back(pixels_case(c, "_infinities", with_some_infinities));
  }
  return list;
}

const AddCases kAdded{{MK_OP_GATHER_PIXELS_GRAD, cases(), sum_of_magnitudes}};

}  // namespace
}  // namespace mokume::conformance
