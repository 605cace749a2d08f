// Reads and writes NumPy's array format (NEP 1, version 1.0): tables of float32 in row-major order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mokume::data {

struct FloatTable {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<float> values;  // rows * columns
};

// Replaces the file atomically. Throws sdk::storage_error() if it cannot be written.
void write_npy(const std::string& path, const FloatTable& table);

// Throws Error(MK_BAD_DATA) with the file and the problem if the type, order, dimensions or version is not supported.
FloatTable read_npy(const std::string& path);

}  // namespace mokume::data
