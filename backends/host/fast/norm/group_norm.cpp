#include "sdk/ops/group_norm.hpp"

#include <cmath>
#include <vector>

#include "call.hpp"
#include "isa/norm.hpp"

namespace mokume::host::fast {

void group_norm(const Call& call) {
  const ops::NormGroups g = ops::norm_groups_of(call.op);
  const View<const float> x = call.input(0), weight = call.input(1), bias = call.input(2);
  const View<float> y = call.output(0), moments = call.output(1);
  const auto terms = static_cast<float>(g.pixels * g.each()), eps = static_cast<float>(call.op.group_norm.eps);
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    std::vector<float> mean(static_cast<size_t>(g.channels)), squares(mean.size()), scale(mean.size()),
        shift(mean.size());
    for (int64_t r = from; r < to; ++r) {
      NormRows n{};
      n.x = x.row(r);
      n.out = y.row(r);
      n.rows = g.pixels;
      n.columns = n.x_stride = n.out_stride = g.channels;
      if (g.pixels > 1) call.loops.norm->moments(n, mean.data(), squares.data());
      for (int64_t group = 0; group < g.groups; ++group) {
        const int64_t first = group * g.each();
        float &m = moments.row(r)[group], &inverse = moments.row(r)[g.groups + group], sum = 0;
        call.loops.norm->group_moments({(g.pixels > 1 ? mean.data() : x.row(r)) + first,
                                        g.pixels > 1 ? squares.data() + first : nullptr, g.pixels, g.each()},
                                       &m, &sum);
        inverse = 1.0F / std::sqrt(sum / terms + eps);
        for (int64_t c = first; c < first + g.each(); ++c) {
          const auto at = static_cast<size_t>(c);
          scale[at] = weight.data[c] * inverse;
          shift[at] = bias.data[c] - m * scale[at];
        }
      }
      n.scale = scale.data();
      n.shift = shift.data();
      call.loops.norm->apply_fused(n);
    }
  });
}

}  // namespace mokume::host::fast
