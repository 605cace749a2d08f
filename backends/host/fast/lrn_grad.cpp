#include "call.hpp"
#include "lrn_rows.hpp"

namespace mokume::host::fast {

void lrn_grad(const Call& call) {
  const View<const float> grad = call.input(0), x = call.input(1);
  const View<float> dx = call.output();
  const LrnForm form = lrn_form(call.op.lrn);
  const int64_t both = form.before + form.after;
  call.for_rows(x.rows, x.columns * (3 * both + 20), [&](int64_t from, int64_t to) {
    PaddedRow g(x.columns, both), values(x.columns, both);
    std::vector<float> terms(static_cast<size_t>(x.columns + both));
    for (int64_t r = from; r < to; ++r)
      call.loops.rows->lrn_grad(form, g.copy_of(grad.row(r)), values.copy_of(x.row(r)), terms.data(), dx.row(r),
                                x.columns);
  });
}

}  // namespace mokume::host::fast
