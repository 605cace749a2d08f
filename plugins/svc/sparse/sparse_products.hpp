// Computes products of sparse rows on one device.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sdk/device.hpp"
#include "sdk/plugin.hpp"
#include "sparse/sparse_rows.hpp"

namespace mokume::svc {

// Numbers the columns that occur in some rows, in ascending order. Tiles then have no room for other columns, so their
// size has a bound by the number of values.
class UsedColumns {
 public:
  explicit UsedColumns(std::vector<int32_t> columns);

  int64_t count() const { return static_cast<int64_t>(columns_.size()); }
  // Returns the number of a column, or -1 if it does not occur.
  int32_t number(int32_t column) const;

 private:
  std::vector<int32_t> columns_;
};

// Holds sparse rows with numbered columns on a device.
struct DeviceRows {
  sdk::Buffer starts, column, x;
  int64_t rows = 0, values = 0;

  DeviceRows() = default;
  // Drops the values in columns that have no number.
  DeviceRows(const sdk::Device& device, const SparseRows& all, const UsedColumns& used);

  static uint64_t bytes(int64_t rows, int64_t values) {
    return static_cast<uint64_t>(rows + 1) * sizeof(int64_t) +
           static_cast<uint64_t>(values) * (sizeof(int32_t) + sizeof(float));
  }
};

// Returns the squared norms of rows, each a sum in the order of a product.
std::vector<float> squared_norms(const SparseRows& rows);

class SparseProducts {
 public:
  // Prepares for rows of `columns` numbered columns; the longer side of a product has about `values` values.
  SparseProducts(const sdk::Host& host, const sdk::Device& device, int64_t columns, int64_t values);

  // Returns the size of the tile on a device that compiles kernels.
  static uint64_t tile_bytes(int64_t columns, int64_t values);

  // Sets out[t][r] to the product of row index[first + t] of x, for out.rows of them, and row r of y.
  void compute(const DeviceRows& x, const sdk::Buffer& index, int64_t first, const DeviceRows& y, const mk_tensor& out);

 private:
  void compute_on_host(const DeviceRows& x, const sdk::Buffer& index, int64_t first, const DeviceRows& y,
                       const mk_tensor& out) const;

  sdk::Host host_;
  const sdk::Device& device_;
  std::optional<sdk::Program> program_;
  const int64_t columns_, values_;
  sdk::Buffer tile_;  // holds zeros between calls
};

}  // namespace mokume::svc
