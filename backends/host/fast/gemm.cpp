#include "sdk/ops/gemm.hpp"

#include <atomic>

#include "call.hpp"
#include "isa/network.hpp"
#include "onednn.hpp"

namespace mokume::host::fast {
namespace {

// Tiles of the output, one oneDNN call each. Their size is fixed, so the bits depend neither on the number of threads
// nor on which of them takes a tile.
constexpr int64_t kTileRows = 256;
constexpr int64_t kTileColumns = 512;

void scale(const Call& call, float beta) {
  const View<float> out = call.output();
  call.for_rows(out.rows, out.columns, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r)
      for (int64_t c = 0; c < out.columns; ++c) out.row(r)[c] = beta == 0 ? 0.0F : beta * out.row(r)[c];
  });
}

// A view of one row may carry any stride; oneDNN wants one that covers the columns.
int64_t leading(const View<const float>& v) { return v.rows > 1 ? v.stride : v.columns; }

}  // namespace

void gemm(const Call& call) {
  const View<const float> a = call.input(0), b = call.input(1);
  const View<float> out = call.output();
  const bool transpose_a = call.op.integers[0] != 0, transpose_b = call.op.integers[1] != 0;
  const float alpha = static_cast<float>(call.op.reals[0]), beta = static_cast<float>(call.op.reals[1]);
  const int64_t k = ops::gemm_shape(call.op).k;
  const float* bias = call.op.n_inputs == 3 ? call.input(2).data : nullptr;
  const bool relu = call.op.integers[2] == static_cast<int64_t>(ops::Activation::relu);
  const auto finish = [&](int64_t r, int64_t c, int64_t rows, int64_t columns) {
    float* from = out.row(r) + c;
    if (bias != nullptr || relu)
      call.loops.network->bias_act(
          {from, bias == nullptr ? nullptr : bias + c, from, rows, columns, out.stride, out.stride, relu});
  };
  if (k == 0) {
    scale(call, beta);
    return finish(0, 0, out.rows, out.columns);
  }

  const int64_t across = (out.columns + kTileColumns - 1) / kTileColumns;
  const int64_t down = (out.rows + kTileRows - 1) / kTileRows;
  std::atomic<bool> failed{false};
  const auto tile = [&](uint64_t index) {
    const int64_t r = static_cast<int64_t>(index) / across * kTileRows;
    const int64_t c = static_cast<int64_t>(index) % across * kTileColumns;
    const bool done =
        sgemm({transpose_a, transpose_b, std::min(kTileRows, out.rows - r), std::min(kTileColumns, out.columns - c), k,
               alpha, transpose_a ? a.data + r : a.row(r), leading(a), transpose_b ? b.row(c) : b.data + c, leading(b),
               beta, out.row(r) + c, out.rows > 1 ? out.stride : out.columns});
    if (!done) failed = true;
    finish(r, c, std::min(kTileRows, out.rows - r), std::min(kTileColumns, out.columns - c));
  };
  if (across * down == 1)
    tile(0);
  else
    call.host.parallel_for(static_cast<uint64_t>(across * down), tile);
  if (failed) throw Error(MK_OUT_OF_MEMORY, "gemm: oneDNN could not get the memory to pack its operands");
}

}  // namespace mokume::host::fast
