#include "sparse/sparse_products.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "native_loop.hpp"
#include "sdk/ops.hpp"
#include "shared_memory.hpp"
#include "sparse.embed.hpp"
#include "sparse/sparse_native.hpp"

namespace mokume::svc {
namespace {

constexpr int64_t kSparseSide = 16;      // SIDE in kernels/sparse.cl
constexpr int64_t kWidest = 64;          // rows of a tile on a device
constexpr int64_t kFloatsPerValue = 24;  // limit of the floats that all tiles take together, for each value of the rows

// Returns how many columns of 16 rows tiles may take together: at least one, and at most `most`.
int64_t sixteens(int64_t columns, int64_t values, int64_t most) {
  return std::clamp<int64_t>(kFloatsPerValue * values / std::max<int64_t>(1, columns * kTileRows), 1, most);
}

int64_t tile_width(int64_t columns, int64_t values) {
  return kTileRows * sixteens(columns, values, kWidest / kTileRows);
}

}  // namespace

UsedColumns::UsedColumns(std::vector<int32_t> columns) : columns_(std::move(columns)) {
  std::sort(columns_.begin(), columns_.end());
  columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
}

int32_t UsedColumns::number(int32_t column) const {
  const auto at = std::lower_bound(columns_.begin(), columns_.end(), column);
  return at == columns_.end() || *at != column ? -1 : static_cast<int32_t>(at - columns_.begin());
}

DeviceRows::DeviceRows(const sdk::Device& device, const SparseRows& all, const UsedColumns& used) {
  SparseRows kept;
  kept.starts.reserve(all.starts.size());
  kept.column.reserve(all.column.size());
  kept.x.reserve(all.x.size());
  for (size_t r = 0; r + 1 < all.starts.size(); ++r) {
    for (auto i = static_cast<size_t>(all.starts[r]); i < static_cast<size_t>(all.starts[r + 1]); ++i)
      if (const int32_t number = used.number(all.column[i]); number >= 0) kept.add(number, all.x[i]);
    kept.end_row();
  }
  rows = kept.rows();
  values = kept.values();
  starts = device.upload(kept.starts);
  column = device.upload(kept.column);
  x = device.upload(kept.x);
}

std::vector<float> squared_norms(const SparseRows& rows) {
  std::vector<float> norms;
  for (size_t r = 0; r + 1 < rows.starts.size(); ++r) {
    float sum = 0;
    for (auto i = static_cast<size_t>(rows.starts[r]); i < static_cast<size_t>(rows.starts[r + 1]); ++i)
      sum = std::fma(rows.x[i], rows.x[i], sum);
    norms.push_back(sum);
  }
  return norms;
}

SparseProducts::SparseProducts(const sdk::Host& host, const sdk::Device& device, int64_t columns, int64_t values)
    : host_(host),
      device_(device),
      program_(sdk::Program::build(device, "sparse", kSparse, "")),
      columns_(columns),
      values_(values) {
  if (!program_) return;
  const int64_t floats = std::max<int64_t>(1, columns * tile_width(columns, values));
  tile_ = device.buffer<float>(static_cast<uint64_t>(floats));
  device.submit(ops::fill(sdk::vector(tile_.get(), floats), 0.0F));
}

uint64_t SparseProducts::tile_bytes(int64_t columns, int64_t values) {
  return static_cast<uint64_t>(std::max<int64_t>(1, columns * tile_width(columns, values))) * sizeof(float);
}

void SparseProducts::compute(const DeviceRows& x, const sdk::Buffer& index, int64_t first, const DeviceRows& y,
                             const mk_tensor& out) {
  if (out.rows == 0 || out.columns == 0) return;
  if (!program_) return compute_on_host(x, index, first, y, out);
  const int64_t width = tile_width(columns_, values_);
  constexpr auto kItems = static_cast<uint64_t>(kSparseSide * kSparseSide);
  const int64_t across = (out.columns + kSparseSide - 1) / kSparseSide;
  for (int64_t at = 0; at < out.rows; at += width) {
    const int64_t lanes = std::min(width, out.rows - at);
    const auto groups = static_cast<uint64_t>((lanes + kSparseSide - 1) / kSparseSide * across);
    const auto fill_tile = [&](int32_t clear) {
      program_->launch("sparse_tile", static_cast<uint64_t>(kWidest), static_cast<uint64_t>(kWidest), x.starts,
                       x.column, x.x, index, first + at, lanes, tile_, width, clear);
    };
    fill_tile(0);
    program_->launch("sparse_products", groups * kItems, kItems, tile_, width, lanes, y.starts, y.column, y.x,
                     out.columns, out.buffer, out.offset + at * out.row_stride, out.row_stride);
    fill_tile(1);
  }
}

void SparseProducts::compute_on_host(const DeviceRows& x, const sdk::Buffer& index, int64_t first, const DeviceRows& y,
                                     const mk_tensor& out) const {
  device_.finish();
  const auto view = [&](const DeviceRows& rows) {
    return SparseView{shared_memory<int64_t>(device_, rows.starts.get()),
                      shared_memory<int32_t>(device_, rows.column.get()), shared_memory<float>(device_, rows.x.get())};
  };
  const SparseView from = view(x), with = view(y);
  const int32_t* const numbers = shared_memory<int32_t>(device_, index.get()) + first;
  float* const to = shared_memory<float>(device_, out.buffer) + out.offset;
  const SparseFunction write = sparse_native();
  const int64_t tiles = (out.rows + kTileRows - 1) / kTileRows;
  const int64_t workers =
      std::min(tiles, sixteens(columns_, values_, std::max<int64_t>(1, int64_t{host_.concurrency()})));
  std::vector<std::vector<float>> memories(static_cast<size_t>(workers));
  for (std::vector<float>& tile : memories) tile.assign(static_cast<size_t>(columns_ * kTileRows), 0.0F);
  native_loop(host_, device_, "sparse_native", static_cast<uint64_t>(workers), [&](uint64_t worker) {
    std::vector<float>& tile = memories[worker];
    for (auto k = static_cast<int64_t>(worker); k < tiles; k += workers) {
      const int64_t at = k * kTileRows, lanes = std::min(kTileRows, out.rows - at);
      const auto fill = [&](bool clear) {
        for (int64_t t = 0; t < lanes; ++t)
          for (int64_t i = from.starts[numbers[at + t]]; i < from.starts[numbers[at + t] + 1]; ++i)
            tile[static_cast<size_t>(from.column[i] * kTileRows + t)] = clear ? 0.0F : from.x[i];
      };
      fill(false);
      write(tile.data(), lanes, with, out.columns, to + at * out.row_stride, out.row_stride);
      fill(true);
    }
  });
}

}  // namespace mokume::svc
