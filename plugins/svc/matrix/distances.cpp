#include "matrix/distances.hpp"

#include <string>

#include "distances.embed.hpp"
#include "matrix/distances_native.hpp"
#include "native_loop.hpp"
#include "sdk/ops.hpp"
#include "shared_memory.hpp"

namespace mokume::svc {
namespace {

constexpr int64_t kTile = 16;  // SIDE in kernels/distances.cl

}  // namespace

const sdk::Program* Distances::program_of(Pairs pairs) {
  const bool chi = pairs == Pairs::chi_squared;
  std::optional<sdk::Program>& program = chi ? chi_squared_ : manhattan_;
  if (!program) {
    auto built =
        sdk::Program::build(device_, chi ? "chi_squared" : "manhattan", kDistances, chi ? "-DCHI_SQUARED" : "");
    if (!built) return nullptr;
    program.emplace(std::move(*built));
  }
  return &*program;
}

void Distances::compute(Pairs pairs, const mk_tensor& x, const mk_tensor& y, const mk_tensor& out) {
  if (out.rows == 0 || out.columns == 0) return;
  if (pairs == Pairs::products) return device_.submit(ops::gemm(x, false, y, true, out));
  const sdk::Program* const program = program_of(pairs);
  if (program == nullptr) return compute_on_host(pairs, x, y, out);
  const auto tiles = static_cast<uint64_t>((out.rows + kTile - 1) / kTile * ((out.columns + kTile - 1) / kTile));
  constexpr auto kItems = static_cast<uint64_t>(kTile * kTile);
  program->launch("distances", tiles * kItems, kItems, x.buffer, x.offset, x.row_stride, y.buffer, y.offset,
                  y.row_stride, out.buffer, out.offset, out.row_stride, out.rows, out.columns, x.columns);
}

void Distances::compute_on_host(Pairs pairs, const mk_tensor& x, const mk_tensor& y, const mk_tensor& out) const {
  device_.finish();
  const auto memory = [&](const mk_tensor& t) { return shared_memory<float>(device_, t.buffer) + t.offset; };
  const float *const from = memory(x), *const with = memory(y);
  float* const to = memory(out);
  const DistancesFunction write = distances_native(pairs == Pairs::chi_squared);
  native_loop(host_, device_, "distances_native", static_cast<uint64_t>(out.rows), [&](uint64_t row) {
    const auto r = static_cast<int64_t>(row);
    write(from + r * x.row_stride, with, y.row_stride, out.columns, x.columns, to + r * out.row_stride);
  });
}

}  // namespace mokume::svc
