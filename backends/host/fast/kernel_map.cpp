#include "sdk/ops/kernel_map.hpp"

#include <algorithm>

#include "call.hpp"

namespace mokume::host::fast {
namespace {

void linear(const Call& call) {
  const View<const float> dot = call.input(0);
  const View<float> out = call.output();
  if (dot.data == out.data) return;  // in place: the values are already there
  call.for_rows(out.rows, out.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) std::copy_n(dot.row(r), out.columns, out.row(r));
  });
}

}  // namespace

void kernel_map(const Call& call) {
  const mk_kernel_map& f = call.op.kernel_map;
  if (f.kind == ops::KernelKind::linear) return linear(call);
  const bool norms = ops::needs_norms(f.kind);
  const View<const float> dot = call.input(0);
  const View<const float> norm_x = norms ? call.input(1) : View<const float>{};
  const View<const float> norm_y = norms ? call.input(2) : View<const float>{};
  const View<float> out = call.output();
  call.for_rows(out.rows, out.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r)
      call.loops.kernel_map({dot.row(r), norm_y.data, out.row(r), out.columns, norms ? norm_x.data[r] : 0.0F,
                             static_cast<float>(f.gamma), static_cast<float>(f.coef0), f.degree, f.kind});
  });
}

}  // namespace mokume::host::fast
