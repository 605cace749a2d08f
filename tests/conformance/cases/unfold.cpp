#include "windows.hpp"

namespace mokume::conformance {
namespace {

Case unfold_case(const WindowCase& w) {
  return {w.name, w.size, [w] {
            Problem p;
            const mk_tensor x = p.random(w.images, w.window.image(), w.image);
            const mk_tensor out = p.unwritten(w.images * w.window.out_pixels(), w.window.patch(), w.windows);
            p.op = ops::unfold(x, w.window, out);
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const WindowCase& w : window_cases()) list.push_back(unfold_case(w));
  list.push_back(unfold_case({"large_28x28x32", Size::large, 75, {28, 28, 32, 3, 3, 1, 1, 1, 1}, {1, 0}, {0, 1}}));
  return list;
}

const AddCases kAdded{{MK_OP_UNFOLD, cases(), nullptr}};

}  // namespace
}  // namespace mokume::conformance
