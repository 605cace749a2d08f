#include "fast/norm/norm_parts.hpp"
#include "sdk/ops/batch_norm.hpp"

namespace mokume::host::fast {
namespace {

void running_grad(const Call& call) {
  const View<const float> moments = call.input(2), running = call.input(3);
  const View<float> out = call.output(call.op.n_outputs - 1);
  const auto share = static_cast<float>(call.op.batch_norm.share);
  for (const int line : {0, 1}) {
    const float* moment = moments.row(line == 0 ? ops::kNormMean : ops::kNormVariance);
    for (int64_t c = 0; c < running.columns; ++c) out.row(line)[c] = (running.row(line)[c] - moment[c]) * share;
  }
}

}  // namespace

void batch_norm_grad(const Call& call) {
  const View<const float> dy = call.input(0), x = call.input(1), moments = call.input(2);
  NormRows all{};
  all.columns = x.columns;
  all.dy_stride = dy.stride;
  all.x_stride = x.stride;
  all.mean = moments.row(ops::kNormMean);
  all.scale = moments.row(ops::kNormScale);
  all.shift = moments.row(ops::kNormShift);
  all.relu = call.op.batch_norm.activation == ops::Activation::relu;
  NormParts parts(x.rows, x.columns);
  parts.for_each_block(call, [&](int64_t block, int64_t first, int64_t count) {
    NormRows n = all;
    n.dy = dy.row(first);
    n.x = x.row(first);
    n.rows = count;
    call.loops.network->norm_products(n, parts.line(block, 0), parts.line(block, 1));
  });
  const auto rows = static_cast<double>(x.rows);
  // In each column, dx = a * g + b * x + c.
  std::vector<float> b(static_cast<size_t>(x.columns)), c(b.size());
  call.for_rows(x.columns, 2 * parts.blocks(), [&](int64_t from, int64_t to) {
    for (int64_t column = from; column < to; ++column) {
      double sum = 0, product = 0;
      for (int64_t block = 0; block < parts.blocks(); ++block) {
        sum += parts.line(block, 0)[column];
        product += parts.line(block, 1)[column];
      }
      const double inverse = moments.row(ops::kNormInverse)[column], a = all.scale[column];
      product *= inverse;
      const double slope = -a * product / rows * inverse;
      call.output(0).data[column] = static_cast<float>(product);
      call.output(1).data[column] = static_cast<float>(sum);
      b[static_cast<size_t>(column)] = static_cast<float>(slope);
      c[static_cast<size_t>(column)] = static_cast<float>(-a * sum / rows - slope * all.mean[column]);
    }
  });
  if (ops::norm_drunning(call.op) != nullptr) running_grad(call);
  if (ops::norm_dx(call.op) == nullptr) return;
  const View<float> dx = call.output(2);
  all.out_stride = dx.stride;
  all.a = all.scale;
  all.b = b.data();
  all.c = c.data();
  call.for_rows(x.rows, x.columns, [&](int64_t from, int64_t to) {
    NormRows n = all;
    n.dy = dy.row(from);
    n.x = x.row(from);
    n.out = dx.row(from);
    n.rows = to - from;
    call.loops.network->norm_grad(n);
  });
}

}  // namespace mokume::host::fast
