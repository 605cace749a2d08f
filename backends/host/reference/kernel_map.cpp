#include "sdk/ops/kernel_map.hpp"

#include <cmath>

#include "call.hpp"

namespace mokume::host::reference {
namespace {

double kernel_value(const mk_kernel_map& f, double dot, double norm_x, double norm_y) {
  switch (f.kind) {
    case ops::KernelKind::linear:
      return dot;
    case ops::KernelKind::polynomial:
      return std::pow(f.gamma * dot + f.coef0, f.degree);
    case ops::KernelKind::rbf: {
      const double distance2 = norm_x + norm_y - 2 * dot;
      return std::exp(-f.gamma * (distance2 < 0 ? 0 : distance2));
    }
    case ops::KernelKind::rbf_minus_one: {
      const double distance2 = norm_x + norm_y - 2 * dot;
      return static_cast<double>(static_cast<float>(std::exp(-f.gamma * (distance2 < 0 ? 0 : distance2)))) - 1;
    }
    case ops::KernelKind::sigmoid:
      return std::tanh(f.gamma * dot + f.coef0);
  }
  return std::nan("");  // check_kernel_map rejects every other kind
}

}  // namespace

void kernel_map(const Call& call) {
  const mk_kernel_map& f = call.op.kernel_map;
  const bool norms = ops::needs_norms(f.kind);
  const View<const float> dot = call.input(0);
  const View<const float> norm_x = norms ? call.input(1) : View<const float>{};
  const View<const float> norm_y = norms ? call.input(2) : View<const float>{};
  const View<float> out = call.output();
  call.for_rows(out.rows, out.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r)
      for (int64_t c = 0; c < out.columns; ++c)
        out.row(r)[c] =
            static_cast<float>(kernel_value(f, dot.row(r)[c], norms ? norm_x.data[r] : 0, norms ? norm_y.data[c] : 0));
  });
}

}  // namespace mokume::host::reference
