#include "call.hpp"
#include "sdk/ops/group_norm.hpp"

namespace mokume::host::reference {

void group_norm_grad(const Call& call) {
  const ops::NormGroups g = ops::norm_groups_of(call.op);
  const View<const float> dy = call.input(0), x = call.input(1), weight = call.input(2), moments = call.input(3);
  const auto d = [&](int64_t r, int64_t i) {
    const int64_t group = i % g.channels / g.each();
    return (static_cast<double>(x.row(r)[i]) - moments.row(r)[group]) * moments.row(r)[g.groups + group];
  };
  for (int64_t c = 0; c < g.channels; ++c) {
    double dweight = 0, dbias = 0;
    for (int64_t r = 0; r < x.rows; ++r)
      for (int64_t i = c; i < g.row(); i += g.channels) {
        dweight += dy.row(r)[i] * d(r, i);
        dbias += dy.row(r)[i];
      }
    call.output(0).data[c] = static_cast<float>(dweight);
    call.output(1).data[c] = static_cast<float>(dbias);
  }
  if (call.op.n_outputs < 3) return;
  const auto terms = static_cast<double>(g.pixels * g.each());
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t group = 0; group < g.groups; ++group) {
      const auto for_each = [&](const auto& element) {
        for (int64_t p = 0; p < g.pixels; ++p)
          for (int64_t c = group * g.each(); c < (group + 1) * g.each(); ++c)
            element(p * g.channels + c, static_cast<double>(dy.row(r)[p * g.channels + c]) * weight.data[c]);
      };
      double sum = 0, product = 0;
      for_each([&](int64_t i, double grad) {
        sum += grad / terms;
        product += grad * d(r, i) / terms;
      });
      for_each([&](int64_t i, double grad) {
        call.output(2).row(r)[i] =
            static_cast<float>((grad - sum - d(r, i) * product) * moments.row(r)[g.groups + group]);
      });
    }
}

}  // namespace mokume::host::reference
