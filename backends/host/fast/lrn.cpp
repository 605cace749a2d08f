#include "sdk/ops/lrn.hpp"

#include "call.hpp"
#include "lrn_rows.hpp"

namespace mokume::host::fast {

void lrn(const Call& call) {
  const View<const float> x = call.input(0);
  const View<float> out = call.output();
  const LrnForm form = lrn_form(call.op.lrn);
  call.for_rows(x.rows, x.columns * (form.before + form.after + 10), [&](int64_t from, int64_t to) {
    PaddedRow row(x.columns, std::max(form.before, form.after));
    for (int64_t r = from; r < to; ++r) call.loops.rows->lrn(form, row.copy_of(x.row(r)), out.row(r), x.columns);
  });
}

}  // namespace mokume::host::fast
