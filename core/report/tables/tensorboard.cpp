#include "report/tables/tensorboard.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "report/tables/stats.hpp"
#include "sdk/error.hpp"

namespace mokume::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "events.out.tfevents.mokume";

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[byte] = crc;
  }
  return table;
}();

template <class Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(value); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

// The format masks the checksum, because a checksum over data that contains checksums is weak.
std::string masked_crc(std::string_view bytes) { return little_endian(std::rotr(crc32c(bytes), 15) + 0xa282ead8u); }

std::string record(const std::string& data) {
  const std::string length = little_endian(static_cast<uint64_t>(data.size()));
  return length + masked_crc(length) + data + masked_crc(data);
}

// ---- Protocol Buffers: a field consists of its number and type in one byte, followed by its value

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}

std::string field(int number, int type) { return varint(static_cast<uint64_t>(number << 3 | type)); }
std::string whole_field(int number, uint64_t value) { return field(number, 0) + varint(value); }
std::string double_field(int number, double value) {
  return field(number, 1) + little_endian(std::bit_cast<uint64_t>(value));
}
std::string bytes_field(int number, std::string_view value) {
  return field(number, 2) + varint(value.size()) + std::string(value);
}
std::string float_field(int number, float value) {
  return field(number, 5) + little_endian(std::bit_cast<uint32_t>(value));
}

// The conversion would be undefined beyond the range of float.
float rounded(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  if (std::abs(value) > kMax) return std::copysign(std::numeric_limits<float>::infinity(), value > 0 ? 1.0F : -1.0F);
  return static_cast<float>(value);
}

// Summary.Value { tag = 1, simple_value = 2 }
std::string value_message(const std::string& tag, double value) {
  return bytes_field(1, tag) + float_field(2, rounded(value));
}

// ---- files

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw Error(MK_STORAGE, "cannot write " + path.string() + ": " + what +
                              "; make the run directory writable and run 'mokume report' again");
}

void put(const fs::path& folder, const std::string& content) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) fail(folder, code.message());
  const fs::path path = folder / kFile, fresh = folder / ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) fail(path, "the disk may be full");
  fs::rename(fresh, path, code);
  if (code) fail(path, code.message());
}

void remove_stale(const fs::path& root, const std::set<std::string>& wanted) {
  std::error_code code;
  std::vector<fs::path> stale;
  for (fs::directory_iterator it(root, code), end; !code && it != end; it.increment(code))
    if (wanted.count(it->path().filename().string()) == 0) stale.push_back(it->path());
  // Other files in the folder stay, and so does the folder.
  for (const fs::path& folder : stale)
    if (fs::is_directory(fs::symlink_status(folder, code)) && fs::remove(folder / kFile, code))
      fs::remove(folder, code);
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

std::string event_file(const std::vector<journal::Curve>& curves, double wall_time) {
  // Event { wall_time = 1, step = 2, file_version = 3, summary = 5 }; Summary { value = 1 }
  std::string out = record(double_field(1, wall_time) + bytes_field(3, "brain.Event:2"));
  size_t epochs = 0;
  for (const journal::Curve& curve : curves) epochs = std::max(epochs, curve.values.size());
  for (size_t i = 0; i < epochs; ++i) {
    std::string summary;
    for (const journal::Curve& curve : curves)
      if (i < curve.values.size()) summary += bytes_field(1, value_message(curve.name, curve.values[i]));
    out += record(double_field(1, wall_time) + whole_field(2, i + 1) + bytes_field(5, summary));
  }
  return out;
}

std::string event_folder(const search::Plan& plan, const search::FitKey& key) {
  const std::string bootstrap = plan.bootstraps > 1 ? fmt::format("-bootstrap-{}", key.bootstrap) : "";
  return fmt::format("candidate-{:04}{}-fold-{}", key.candidate, bootstrap, key.fold);
}

void write_event_files(const RunView& view, const std::string& directory) {
  const fs::path root(directory);
  std::set<std::string> written;
  const auto write = [&](const std::string& name, const std::vector<journal::Curve>& curves, double wall_time) {
    if (curves.empty()) return;
    put(root / name, event_file(curves, wall_time));
    written.insert(name);
  };
  for (const journal::FitRecord* one : by_fit(view.plan, view.records))
    if (one != nullptr) write(event_folder(view.plan, view.plan.key(one->fit)), one->curves, one->end_s);
  if (view.refit) write("refit", view.refit->curves, view.refit->end_s);
  if (view.plan.bootstraps > 1)
    for (const journal::FitRecord& one : view.refits)
      write(fmt::format("member-{:03}", one.fit - view.plan.n_fits()), one.curves, one.end_s);
  remove_stale(root, written);
}

}  // namespace mokume::report
