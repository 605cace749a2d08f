#include "data/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/files.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

static_assert(std::endian::native == std::endian::little, "float32 in files is little-endian");

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr size_t kBlock = 64;  // the data begins at a multiple of this

// Reads the integer after `at` and advances `at` past it.
int64_t take_number(const std::string& path, std::string_view header, size_t& at) {
  while (at < header.size() && (header[at] == ' ' || header[at] == '(' || header[at] == ',')) ++at;
  int64_t number = 0;
  const auto [end, fault] = std::from_chars(header.data() + at, header.data() + header.size(), number);
  if (fault != std::errc() || number < 0 || number > INT32_MAX)
    bad_data(path, "", "has a shape that is not two whole numbers below 2^31");
  at = static_cast<size_t>(end - header.data());
  return number;
}

void check_header(const std::string& path, std::string_view header) {
  const auto has = [&](std::string_view part) { return header.find(part) != std::string_view::npos; };
  if (!has("'descr': '<f4'")) bad_data(path, "", "does not hold little-endian float32; save it with astype('<f4')");
  if (!has("'fortran_order': False")) bad_data(path, "", "is not in row-major order; save np.ascontiguousarray of it");
}

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
  const std::string bytes = base::read_file(path);
  const size_t before = kMagic.size() + 2;
  if (bytes.size() < before || std::string_view(bytes).substr(0, kMagic.size()) != kMagic)
    bad_data(path, "", "is not a NumPy array of version 1.0");
  const size_t length =
      static_cast<unsigned char>(bytes[before - 2]) + 256 * size_t{static_cast<unsigned char>(bytes[before - 1])};
  if (bytes.size() < before + length) bad_data(path, "", "ends inside its header");
  const std::string_view header(bytes.data() + before, length);
  check_header(path, header);
  size_t at = header.find("'shape':");
  if (at == std::string_view::npos) bad_data(path, "", "has no shape");
  at += 8;
  FloatTable table;
  table.rows = take_number(path, header, at);
  table.columns = take_number(path, header, at);
  if (header.substr(at, header.find(')', at) - at).find_first_not_of(" ,") != std::string_view::npos)
    bad_data(path, "", "has more than two dimensions");
  const uint64_t count = static_cast<uint64_t>(table.rows) * static_cast<uint64_t>(table.columns);
  if (count * sizeof(float) != bytes.size() - before - length)
    bad_data(path, "", "has a size that does not match its shape: it is damaged");
  table.values.resize(count);
  if (count > 0) std::memcpy(table.values.data(), bytes.data() + before + length, count * sizeof(float));
  return table;
}

}  // namespace mokume::data
