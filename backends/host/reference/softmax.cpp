#include "sdk/ops/softmax.hpp"

#include <cmath>
#include <vector>

#include "call.hpp"

namespace mokume::host::reference {

void softmax(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  for (int64_t r = 0; r < x.rows; ++r) {
    double largest = -HUGE_VAL, sum = 0;
    for (int64_t c = 0; c < x.columns; ++c) {
      const auto v = static_cast<double>(x.row(r)[c]);
      if (v > largest || std::isnan(v)) largest = v;
      if (std::isnan(v)) break;
    }
    std::vector<double> terms;
    for (int64_t c = 0; c < x.columns; ++c)
      sum += terms.emplace_back(std::exp(static_cast<double>(x.row(r)[c]) - largest));
    for (int64_t c = 0; c < x.columns; ++c) out.row(r)[c] = static_cast<float>(terms[static_cast<size_t>(c)] / sum);
  }
}

}  // namespace mokume::host::reference
