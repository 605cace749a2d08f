#include "report/tensorboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "base/files.hpp"
#include "results/stats.hpp"

namespace mokume::report {
namespace {

// Without a limit, a search with many fits would write more than a reader, or TensorBoard, can use.
constexpr size_t kMostEventBytes = size_t{4} << 20;
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

// The conversion of a value beyond the range of float would be undefined.
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

base::Below in(const base::Below& root, const std::string& name) { return {root.root, root.name + "/" + name}; }

// Keeps all other files, and the folders that contain them.
void remove_stale_events(const base::Below& root, const std::set<std::string>& wanted) {
  for (const std::string& name : base::names_in(root)) {
    const base::Below events = in(root, name + "/" + kFile);
    if (wanted.count(name) > 0 || !base::exists(events)) continue;
    base::remove(events);
    if (base::names_in(in(root, name)).empty()) base::remove(in(root, name));
  }
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

ChosenEvents event_files(const results::RunView& view) {
  ChosenEvents chosen;
  size_t bytes = 0;
  const auto add = [&](const std::string& name, const journal::FitRecord& record) {
    chosen.files.push_back({name, event_file(record.curves, record.end_s)});
    bytes += chosen.files.back().content.size();
  };
  if (view.refit && !view.refit->curves.empty()) add("refit", *view.refit);
  if (view.plan.bootstraps > 1)
    for (const journal::FitRecord& one : view.refits)
      if (!one.curves.empty() && bytes < kMostEventBytes)
        add(fmt::format("member-{:03}", one.fit - view.plan.n_fits()), one);
  std::vector<const journal::FitRecord*> fits = results::recorded(view);
  std::erase_if(fits, [](const auto* one) { return one->curves.empty(); });
  chosen.of = fits.size();
  const std::vector<results::CandidateRow> rows = results::pool(view);
  const auto rank = [&](const auto* one) { return rows[view.plan.key(one->fit).candidate].rank; };
  std::stable_sort(fits.begin(), fits.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  for (const journal::FitRecord* one : fits) {
    if (bytes >= kMostEventBytes && chosen.fits > 0) break;
    add(event_folder(view.plan, view.plan.key(one->fit)), *one);
    ++chosen.fits;
  }
  return chosen;
}

void write_event_files(const results::RunView& view, const base::Below& directory) {
  std::set<std::string> written;
  for (const NamedFile& file : event_files(view).files) {
    base::make_directories(in(directory, file.name));
    base::write_file(in(directory, file.name + "/" + kFile), file.content, base::Durable::no);
    written.insert(file.name);
  }
  remove_stale_events(directory, written);
}

}  // namespace mokume::report
