#include "sdk/ops/gemm.hpp"

#include <atomic>

#include "isa/network.hpp"
#include "products.hpp"
#include "strict_product.hpp"

namespace mokume::host::fast {
namespace {

constexpr int64_t kSmall = 65536;  // smaller products are not worth a hand-over to another thread

void scale(const Call& call, float beta) {
  const View<float> out = call.output();
  call.for_rows(out.rows, out.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r)
      for (int64_t c = 0; c < out.columns; ++c) out.row(r)[c] = beta == 0 ? 0.0F : beta * out.row(r)[c];
  });
}

}  // namespace

void gemm(const Call& call) {
  const mk_gemm& gemm = call.op.gemm;
  const Product product{gemm.transpose_a != 0,
                        gemm.transpose_b != 0,
                        static_cast<float>(gemm.alpha),
                        static_cast<float>(gemm.beta),
                        ops::gemm_shape(call.op).k,
                        call.input(0),
                        call.input(1),
                        call.output(),
                        call.loops.row_product};
  const View<float>& out = product.out;
  const float* bias = call.op.n_inputs == 3 ? call.input(2).data : nullptr;
  const bool relu = gemm.activation == ops::Activation::relu;
  const auto finish = [&](int64_t r, int64_t c, int64_t rows, int64_t columns) {
    float* from = out.row(r) + c;
    if (bias != nullptr || relu)
      call.loops.network->bias_act(
          {from, bias == nullptr ? nullptr : bias + c, from, rows, columns, out.stride, out.stride, relu});
  };
  if (product.k == 0) {
    scale(call, product.beta);
    return finish(0, 0, out.rows, out.columns);
  }
  if (call.strict)
    return multiply_strictly(call, {product.transpose_a, product.transpose_b, product.alpha, product.beta, product.k,
                                    product.a, product.b, out, bias, relu});

  if (out.rows == 1 && product.takes_rows()) {
    const int64_t each = out.columns < 256 ? 64 : 128;  // few columns, so that a small product has a part for each core
    const auto part = [&](uint64_t index) {
      const int64_t c = static_cast<int64_t>(index) * each, columns = std::min(each, out.columns - c);
      product.row(0, c, columns);
      finish(0, c, 1, columns);
    };
    if (product.k * out.columns < kSmall) {
      for (uint64_t i = 0; static_cast<int64_t>(i) * each < out.columns; ++i) part(i);
      return;
    }
    return call.parallel_for(static_cast<uint64_t>((out.columns + each - 1) / each), part);
  }

  const int64_t across = (out.columns + kTileColumns - 1) / kTileColumns;
  const int64_t down = (out.rows + kTileRows - 1) / kTileRows;
  std::atomic<bool> failed{false};
  const auto tile = [&](uint64_t index) {
    const int64_t r = static_cast<int64_t>(index) / across * kTileRows;
    const int64_t c = static_cast<int64_t>(index) % across * kTileColumns;
    if (!product.tile(r, c)) failed = true;
    finish(r, c, std::min(kTileRows, out.rows - r), std::min(kTileColumns, out.columns - c));
  };
  if (across * down == 1)
    tile(0);
  else
    call.parallel_for(static_cast<uint64_t>(across * down), tile);
  if (failed) throw Error(MK_OUT_OF_MEMORY, "gemm: oneDNN could not allocate memory to pack its operands");
}

}  // namespace mokume::host::fast
