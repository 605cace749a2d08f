#include "sdk/ops/group_norm.hpp"

#include <cmath>

#include "call.hpp"

namespace mokume::host::reference {

void group_norm(const Call& call) {
  const ops::NormGroups g = ops::norm_groups_of(call.op);
  const View<const float> x = call.input(0), weight = call.input(1), bias = call.input(2);
  const View<float> y = call.output(0), moments = call.output(1);
  const auto terms = static_cast<double>(g.pixels * g.each());
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t group = 0; group < g.groups; ++group) {
      const auto for_each = [&](const auto& element) {
        for (int64_t p = 0; p < g.pixels; ++p)
          for (int64_t c = group * g.each(); c < (group + 1) * g.each(); ++c) element(p * g.channels + c, c);
      };
      double mean = 0, squares = 0;
      for_each([&](int64_t i, int64_t) { mean += x.row(r)[i] / terms; });
      for_each([&](int64_t i, int64_t) { squares += (x.row(r)[i] - mean) * (x.row(r)[i] - mean); });
      const double inverse = 1 / std::sqrt(squares / terms + call.op.group_norm.eps);
      for_each([&](int64_t i, int64_t c) {
        y.row(r)[i] = static_cast<float>((x.row(r)[i] - mean) * inverse * weight.data[c] + bias.data[c]);
      });
      moments.row(r)[group] = static_cast<float>(mean);
      moments.row(r)[g.groups + group] = static_cast<float>(inverse);
    }
}

}  // namespace mokume::host::reference
