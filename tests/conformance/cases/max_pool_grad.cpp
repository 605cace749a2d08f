#include "windows.hpp"

namespace mokume::conformance {
namespace {

// Returns the place in its window of pixel r + 5 c, modulo the number of pixels that the window covers.
int32_t chosen(const ops::Window& w, int64_t r, int64_t c) {
  const int64_t window = c / w.channels;
  const int64_t top = window / w.out_width() * w.stride_h - w.pad_h;
  const int64_t left = window % w.out_width() * w.stride_w - w.pad_w;
  const int64_t first_i = std::max<int64_t>(0, -top), rows = std::min(w.kernel_h, w.height - top) - first_i;
  const int64_t first_j = std::max<int64_t>(0, -left), columns = std::min(w.kernel_w, w.width - left) - first_j;
  const int64_t at = (r + 5 * c) % (rows * columns);
  return static_cast<int32_t>((first_i + at / columns) * w.kernel_w + first_j + at % columns);
}

Case grad_case(const WindowCase& w, float (*change)(float) = nullptr, bool relu = false) {
  return {w.name + (relu ? "_relu" : ""), w.size, [w, change, relu] {
            Problem p;
            const int64_t elements = w.window.out_pixels() * w.window.channels;
            const Layout places{w.windows.offset + 2, w.windows.padding + 1};
            const mk_tensor grad = p.random(w.images, elements, w.windows);
            if (change != nullptr) p.change(grad, change);
            const mk_tensor place =
                p.integers(w.images, elements, places, [&](int64_t r, int64_t c) { return chosen(w.window, r, c); });
            const mk_tensor x = relu ? p.random(w.images, w.window.image(), w.windows) : mk_tensor{};
            p.op = ops::max_pool_grad(grad, place, w.window, p.unwritten(w.images, w.window.image(), w.image), x);
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const WindowCase& w : window_cases()) {
    list.push_back(grad_case(w));
    if (w.size == Size::tiny) list.push_back(grad_case(w, nullptr, true));
  }
  using Change = float (*)(float);
  const std::pair<std::string, Change> changes[] = {{"nans", with_some_nans}, {"infinities", with_some_infinities}};
  for (const auto& [name, change] : changes) {
    list.push_back(grad_case({name + "_overlapping", Size::tiny, 3, {7, 9, 3, 3, 2, 2, 1, 2, 1}}, change));
    list.push_back(grad_case({name + "_halving", Size::tiny, 2, {6, 6, 17, 2, 2, 2, 2, 0, 0}}, change));
  }
  for (const WindowCase& w : lopsided_cases()) list.push_back(grad_case(w));
  list.push_back(grad_case({"large_32x32x64", Size::large, 257, {32, 32, 64, 2, 2, 2, 2, 0, 0}}));
  return list;
}

const AddCases kAdded{{MK_OP_MAX_POOL_GRAD, cases(), sum_of_magnitudes}};

}  // namespace
}  // namespace mokume::conformance
