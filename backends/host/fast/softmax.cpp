#include "sdk/ops/softmax.hpp"

#include <cmath>

#include "call.hpp"
#include "isa/network.hpp"

namespace mokume::host::fast {
namespace {

// Returns the largest element, or NaN if any element is NaN.
float largest_value(const float* x, int64_t n) {
  float largest = x[0];
  for (int64_t c = 0; c < n; ++c) {
    if (std::isnan(x[c])) return x[c];
    if (x[c] > largest) largest = x[c];
  }
  return largest;
}

}  // namespace

void softmax(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  if (x.columns == 0) return;
  call.for_rows(x.rows, 8 * x.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      float* e = out.row(r);
      call.loops.network->exp_minus(x.row(r), largest_value(x.row(r), x.columns), e, x.columns);
      double sum = 0;
      for (int64_t c = 0; c < x.columns; ++c) sum += static_cast<double>(e[c]);
      call.loops.network->scale(e, static_cast<float>(1 / sum), x.columns);
    }
  });
}

}  // namespace mokume::host::fast
