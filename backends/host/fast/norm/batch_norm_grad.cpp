#include "fast/norm/norm_parts.hpp"
#include "sdk/ops/batch_norm.hpp"

namespace mokume::host::fast {
namespace {

// Adds up both lines of blocks in order.
void add_blocks(const NormBlocks& blocks, float* sum, float* product) {
  std::fill_n(sum, blocks.columns, 0.0F);
  std::fill_n(product, blocks.columns, 0.0F);
  for (int64_t k = blocks.begin; k < blocks.end; ++k) {
    const float* first = blocks.part + 2 * k * blocks.columns;
    const float* second = first + blocks.columns;
    for (int64_t c = 0; c < blocks.columns; ++c) {
      sum[c] += first[c];
      product[c] += second[c];
    }
  }
}

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
  parts.for_each_block(call, [&](int64_t first, int64_t count, float* sum, float* product) {
    NormRows n = all;
    n.dy = dy.row(first);
    n.x = x.row(first);
    n.rows = count;
    call.loops.norm->block_products(n, sum, product);
  });
  float* const sums = call.output(1).data;
  float* const products = call.output(0).data;
  parts.merge(call, sums, products, add_blocks);
  const auto rows = static_cast<float>(x.rows);
  // In each column, dx = a * g + b * x + c.
  std::vector<float> b(static_cast<size_t>(x.columns)), c(b.size());
  for (int64_t column = 0; column < x.columns; ++column) {
    const float inverse = moments.row(ops::kNormInverse)[column], scale = all.scale[column];
    const float product = products[column] * inverse, slope = -scale * product / rows * inverse;
    products[column] = product;
    b[static_cast<size_t>(column)] = slope;
    c[static_cast<size_t>(column)] = -scale * sums[column] / rows - slope * all.mean[column];
  }
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
    call.loops.norm->grad(n);
  });
}

}  // namespace mokume::host::fast
