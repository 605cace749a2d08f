#include "node/out_of_fold.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/files.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

constexpr const char* kFolder = "validated";
constexpr uint64_t kMostFileBytes = uint64_t{4} << 30;
constexpr uint32_t kMagic = 0x31564B4D;  // "MKV1"

// Precedes the values of a fit in a file. A class below 256 takes one byte, any other value a float.
struct Head {
  uint32_t magic, fit, values, width, sum;
};

uint32_t sum_of(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string record_of(uint32_t fit, const Predicted& values) {
  const bool narrow =
      std::all_of(values.begin(), values.end(), [](float v) { return v >= 0 && v < 256 && v == std::floor(v); });
  std::string payload;
  if (narrow)
    for (const float value : values) payload += static_cast<char>(static_cast<unsigned char>(value));
  else
    payload.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  const Head head{kMagic, fit, static_cast<uint32_t>(values.size()), narrow ? 1U : 4U, sum_of(payload)};
  return std::string(reinterpret_cast<const char*>(&head), sizeof(head)) + payload;
}

// Takes the next record from the text. Returns false at the end, and at a torn or damaged record.
bool take_record(std::string_view& text, uint32_t& fit, Predicted& values) {
  Head head{};
  if (text.size() < sizeof(head)) return false;
  std::memcpy(&head, text.data(), sizeof(head));
  text.remove_prefix(sizeof(head));
  if (head.magic != kMagic || (head.width != 1 && head.width != 4)) return false;
  const size_t bytes = size_t{head.values} * head.width;
  if (bytes > text.size() || sum_of(text.substr(0, bytes)) != head.sum) return false;
  fit = head.fit;
  values.resize(head.values);
  for (size_t i = 0; i < values.size(); ++i) {
    if (head.width == 1)
      values[i] = static_cast<float>(static_cast<unsigned char>(text[i]));
    else
      std::memcpy(&values[i], text.data() + i * sizeof(float), sizeof(float));
  }
  text.remove_prefix(bytes);
  return true;
}

}  // namespace

std::vector<uint32_t> validated_rows(const Experiment& experiment, uint32_t fit) {
  const search::FitKey key = experiment.plan().key(fit);
  std::vector<uint32_t> rows = experiment.splits().validation_rows({key.bootstrap, key.fold});
  std::sort(rows.begin(), rows.end());
  return rows;
}

OutOfFoldWriter::OutOfFoldWriter(std::string run_directory, const cluster::Attempt& attempt)
    : file_{std::move(run_directory), fmt::format("{}/fit-{:06}-{}{}", kFolder, attempt.fits.front(), attempt.number,
                                                  attempt.backup ? "-backup" : "")},
      failed_(file_.root.empty()) {}

void OutOfFoldWriter::add(const Experiment& experiment, uint32_t fit, const mk_validated& rows, int64_t n) {
  if (failed_) return;
  const std::vector<uint32_t> expected = validated_rows(experiment, fit);
  Predicted values(expected.size(), std::nanf(""));
  const bool numbers = experiment.data().class_names.empty();
  bool same = expected.size() == static_cast<size_t>(n);
  for (int64_t r = 0; same && r < n; ++r) {
    const auto place = std::lower_bound(expected.begin(), expected.end(), static_cast<uint32_t>(rows.rows[r]));
    same = place != expected.end() && int64_t{*place} == rows.rows[r];
    if (same)
      values[static_cast<size_t>(place - expected.begin())] =
          numbers ? rows.numbers[r] : static_cast<float>(rows.predicted[r]);
  }
  if (!same)
    throw Error(MK_INTERNAL, "the model reported other rows than those that validate a fit; its library is faulty");
  write(record_of(fit, values));
}

void OutOfFoldWriter::write(const std::string& record) {
  try {
    if (open_.get() < 0) {
      base::make_directories({file_.root, kFolder});
      open_ = base::open_below(file_, O_WRONLY | O_CREAT | O_APPEND, 0644);
    }
    failed_ = open_.get() < 0 || !base::write_all(open_.get(), record);
  } catch (const std::exception&) {
    failed_ = true;
  }
}

std::map<uint32_t, Predicted> read_out_of_fold(const std::string& run_directory,
                                               const std::map<uint32_t, size_t>& wanted,
                                               const std::function<bool(uint32_t, const Predicted&)>& accept) {
  std::map<uint32_t, Predicted> found;
  for (const std::string& name : base::names_in({run_directory, kFolder})) {
    std::string text;
    try {
      text = base::read_file(base::Below{run_directory, std::string(kFolder) + "/" + name}, kMostFileBytes);
    } catch (const Error&) {
      continue;
    }
    uint32_t fit = 0;
    Predicted values;
    for (std::string_view rest = text; take_record(rest, fit, values);) {
      const auto one = wanted.find(fit);
      if (one != wanted.end() && values.size() == one->second && accept(fit, values)) found[fit] = values;
    }
  }
  return found;
}

void keep_out_of_fold(const std::string& run_directory, const std::map<uint32_t, Predicted>& predictions) {
  base::remove({run_directory, kFolder});
  if (predictions.empty()) return;
  std::string text;
  for (const auto& [fit, values] : predictions) text += record_of(fit, values);
  base::make_directories({run_directory, kFolder});
  base::write_file(base::Below{run_directory, std::string(kFolder) + "/best"}, text);
}

}  // namespace mokume::node
