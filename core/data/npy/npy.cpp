#include "data/npy/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <string_view>

#include "base/files.hpp"
#include "data/input.hpp"
#include "data/npy/npy_file.hpp"

namespace mokume::data {
namespace {

static_assert(std::endian::native == std::endian::little, "float32 in files is little-endian");

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr size_t kBlock = 64;  // the data starts at a multiple of this size

}  // namespace

void write_npy(const std::string& path, const FloatTable& table) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", table.rows, table.columns);
  const size_t before = kMagic.size() + 2;
  header.append((kBlock - (before + header.size() + 1) % kBlock) % kBlock, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(table.values.data()), table.values.size() * sizeof(float));
  base::write_file(path, bytes);
}

FloatTable read_npy(const std::string& path) {
  NpyFile file(path);
  if (file.type() != "<f4") bad_data(path, "", "does not hold little-endian float32; save it with astype('<f4')");
  if (file.shape().size() != 2) bad_data(path, "", "has a shape that is not two dimensions; reshape it");
  FloatTable table{file.shape()[0], file.shape()[1], {}};
  table.values.reserve(file.count());
  file.read([&](const double* numbers, size_t count) {
    for (size_t i = 0; i < count; ++i) table.values.push_back(static_cast<float>(numbers[i]));
  });
  return table;
}

}  // namespace mokume::data
