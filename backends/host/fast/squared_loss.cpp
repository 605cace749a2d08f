#include "call.hpp"
#include "isa/rows.hpp"
#include "sdk/ops/loss.hpp"

namespace mokume::host::fast {

void squared_loss(const Call& call) {
  const View<const float> prediction = call.input(0), target = call.input(1);
  const View<const int32_t> index = call.indices(2);
  const View<float> out = call.output(0);
  const View<float> grad = call.op.n_outputs == 2 ? call.output(1) : View<float>{};
  const float* weights = call.op.n_inputs == 4 ? call.input(3).data : nullptr;
  const auto columns = static_cast<double>(prediction.columns);
  const double scale = call.op.squared_loss.scale;
  DistanceLossRow all{};
  all.n = prediction.columns;
  all.plain = ops::is_plain_loss(call.op);
  all.distance = call.op.squared_loss.form.distance;
  all.scale = static_cast<float>((all.plain ? 2 * scale : scale) / columns);
  all.delta = static_cast<float>(call.op.squared_loss.form.delta);
  all.per_column = static_cast<float>(1 / columns);
  call.for_rows(prediction.rows, 2 * prediction.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      DistanceLossRow row = all;
      row.prediction = prediction.row(r);
      row.target = target.row(index.data[r]);
      row.out = out.row(r);
      row.grad = grad.row(r);
      row.weight = weights != nullptr ? weights[index.data[r]] : 1.0F;
      call.loops.rows->distance_loss(row);
    }
  });
}

}  // namespace mokume::host::fast
