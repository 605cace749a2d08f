#include "windows.hpp"

namespace mokume::conformance {
namespace {

Case fold_case(const WindowCase& w) {
  return {w.name, w.size, [w] {
            Problem p;
            const mk_tensor patches = p.random(w.images * w.window.out_pixels(), w.window.patch(), w.windows);
            p.op = ops::fold(patches, w.window, p.unwritten(w.images, w.window.image(), w.image));
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const WindowCase& w : window_cases()) list.push_back(fold_case(w));
  list.push_back(fold_case({"large_28x28x32", Size::large, 75, {28, 28, 32, 3, 3, 1, 1, 1, 1}, {1, 0}, {0, 1}}));
  return list;
}

const AddCases kAdded{{MK_OP_FOLD, cases(), sum_of_magnitudes}};

}  // namespace
}  // namespace mokume::conformance
