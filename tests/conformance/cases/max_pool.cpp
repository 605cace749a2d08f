#include <cmath>
#include <limits>

#include "windows.hpp"

namespace mokume::conformance {
namespace {

// Returns the value of a pixel, given a random number in [0, 1).
using Pixel = float (*)(float);

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float plain(float random) { return 2 * random - 1; }
float few_values(float random) { return std::floor(3 * random); }  // the same largest value occurs in several places
float below_all_floats(float random) { return random < 0.9F ? -kInfinity : -random; }
float negative(float random) { return -1 - random; }  // a padding of 0 would win
float with_nans(float random) { return random < 0.2F ? std::numeric_limits<float>::quiet_NaN() : few_values(random); }
float with_infinities(float random) { return random < 0.2F ? kInfinity : few_values(random); }

Case pool_case(const WindowCase& w, Pixel pixel = plain) {
  return {w.name, w.size, [w, pixel] {
            Problem p;
            const int64_t elements = w.window.out_pixels() * w.window.channels;
            const mk_tensor random = p.random(w.images, w.window.image(), w.image, 0, 1);
            p.change(random, pixel);
            const mk_tensor out = p.unwritten(w.images, elements, w.windows);
            const Layout places{w.windows.offset + 2, w.windows.padding + 1};
            p.op = ops::max_pool(random, w.window, out, p.unwritten(w.images, elements, places, MK_I32));
            return p;
          }};
}

std::vector<Case> cases() {
  const ops::Window padded{7, 9, 3, 3, 2, 2, 1, 2, 1}, halving{6, 6, 17, 2, 2, 2, 2, 0, 0};
  std::vector<Case> list;
  for (const WindowCase& w : window_cases()) list.push_back(pool_case(w));
  for (const auto& [name, pixel] : {std::pair<const char*, Pixel>{"equal_values", few_values},
                                    {"minus_infinity", below_all_floats},
                                    {"negative", negative},
                                    {"nans", with_nans},
                                    {"infinities", with_infinities}}) {
    list.push_back(pool_case({std::string(name) + "_padded", Size::tiny, 4, padded, {1, 2}, {3, 0}}, pixel));
    list.push_back(pool_case({std::string(name) + "_halving", Size::tiny, 2, halving}, pixel));
  }
  for (const WindowCase& w : lopsided_cases()) list.push_back(pool_case(w));
  list.push_back(pool_case({"large_32x32x64", Size::large, 257, {32, 32, 64, 2, 2, 2, 2, 0, 0}}));
  return list;
}

const AddCases kAdded{{MK_OP_MAX_POOL, cases(), nullptr}};

}  // namespace
}  // namespace mokume::conformance
