#include "call.hpp"
#include "isa/rows.hpp"
#include "sdk/ops/loss.hpp"

namespace mokume::host::fast {

void softmax_loss(const Call& call) {
  const View<const float> logits = call.input(0);
  const View<const int32_t> label = call.indices(1), index = call.indices(2);
  const View<float> out = call.output(0);
  const View<float> grad = call.op.n_outputs == 2 ? call.output(1) : View<float>{};
  const float* weights = call.op.n_inputs == 4 ? call.input(3).data : nullptr;
  SoftmaxLossRow all{};
  all.n = logits.columns;
  all.plain = ops::is_plain_loss(call.op);
  all.scale = static_cast<float>(call.op.softmax_loss.scale);
  all.smoothing = static_cast<float>(call.op.softmax_loss.form.smoothing);
  all.gamma = static_cast<float>(call.op.softmax_loss.form.gamma);
  all.per_column = static_cast<float>(1 / static_cast<double>(logits.columns));
  call.for_rows(logits.rows, 8 * logits.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      SoftmaxLossRow row = all;
      row.logits = logits.row(r);
      row.out = out.row(r);
      row.grad = grad.row(r);
      row.target = label.data[index.data[r]];
      row.weight = weights != nullptr ? weights[index.data[r]] : 1.0F;
      call.loops.rows->softmax_loss(row);
    }
  });
}

}  // namespace mokume::host::fast
