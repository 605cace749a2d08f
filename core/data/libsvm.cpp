#include "data/libsvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

struct Entry {
  int32_t index;  // counted from 0
  double value;
};

// Rows become dense, so a short file with a large index would need far more memory than it has bytes. A table larger
// than kFreeBytes may take at most kMostPerByte bytes per byte of text, enough for rows with ten of 70,000 features.
constexpr uint64_t kFreeBytes = uint64_t{16} << 20;
constexpr uint64_t kMostPerByte = 4096;

constexpr bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class LibsvmReader {
 public:
  LibsvmReader(const std::string& path, int64_t limit, int64_t features, bool exact, bool sparse)
      : path_(path), limit_(limit), features_(features), exact_(exact), sparse_(sparse) {}

  RawTable read() {
    const std::string text = read_text(path_);
    text_bytes_ = text.size();
    for (std::string_view rest = text; !rest.empty();) {
      const size_t end = rest.find('\n');
      ++line_;
      const std::string_view line = rest.substr(0, end);
      read_line(line.substr(0, line.find('#')));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return finish();
  }

 private:
  [[noreturn]] void fail(std::string_view line, const char* at, const std::string& what) const {
    const auto column = at - line.data() + 1;
    bad_data(path_, "line " + std::to_string(line_) + ", column " + std::to_string(column), what);
  }

  // Returns the next run of non-blank characters, or "" at the end of the line.
  static std::string_view next_word(const char*& at, const char* end) {
    while (at != end && blank(*at)) ++at;
    const char* const start = at;
    while (at != end && !blank(*at)) ++at;
    return {start, static_cast<size_t>(at - start)};
  }

  void read_line(std::string_view line) {
    const char* at = line.data();
    const char* const end = at + line.size();
    const std::string_view label = next_word(at, end);
    if (label.empty()) return;
    double value = 0;
    if (!parse_number(label, value))
      fail(line, label.data(), "the label is " + quoted(label) + ", not a finite number; number the classes");
    part_.labels.values.push_back(value);
    part_.labels.lines.push_back(line_);
    const bool keep = limit_ == 0 || static_cast<int64_t>(part_.labels.values.size()) <= limit_;
    int32_t last = 0;
    bool first = true;
    for (std::string_view word = next_word(at, end); !word.empty(); word = next_word(at, end)) {
      if (std::exchange(first, false) && is_query(word)) continue;
      const Entry entry = read_entry(line, word, last);
      last = entry.index + 1;
      if (keep && entry.value != 0) entries_.push_back(entry);
    }
    if (last > highest_) highest_ = last, highest_line_ = line_;
    if (keep) ends_.push_back(entries_.size());
  }

  // In SVMrank files, "qid:7" after the label groups rows for ranking. This reader ignores it.
  static bool is_query(std::string_view word) {
    constexpr std::string_view kQuery = "qid:";
    if (!word.starts_with(kQuery)) return false;
    word.remove_prefix(kQuery.size());
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
  }

  Entry read_entry(std::string_view line, std::string_view word, int32_t last) const {
    const char* const end = word.data() + word.size();
    int64_t index = 0;
    const auto [colon, code] = std::from_chars(word.data(), end, index);
    if (code == std::errc::invalid_argument || colon == end || *colon != ':')
      fail(line, word.data(), "found " + quoted(word) + " where index:value belongs; correct the line");
    const std::string_view digits(word.data(), static_cast<size_t>(colon - word.data()));
    const auto show = [digits] { return "index " + quoted(digits); };
    if (code != std::errc{} || index > kMaxFeatures)
      fail(line, word.data(), show() + " is above the limit of " + std::to_string(kMaxFeatures) + "; renumber");
    if (index <= 0) fail(line, word.data(), show() + " is not positive; indices start at 1, add 1 to all of them");
    if (index <= last)
      fail(line, word.data(),
           show() + " comes after index " + std::to_string(last) + "; sort each line by index, each index once");
    if (features_ > 0 && index > features_)
      fail(line, word.data(),
           show() + " is above the model's " + std::to_string(features_) +
               " features; remove it, or train with a file in data.test that has this index");
    double value = 0;
    const std::string_view number(colon + 1, static_cast<size_t>(end - colon - 1));
    if (!parse_number(number, value) || !std::isfinite(static_cast<float>(value)))
      fail(line, colon + 1, "the value is " + quoted(number) + ", not a finite float32 number; correct it");
    return {static_cast<int32_t>(index - 1), value};
  }

  // Rejects a table that is too large for its text, unless the caller gave the number of features.
  void check_density(const Table& table) const {
    const uint64_t bytes = static_cast<uint64_t>(table.rows) * static_cast<uint64_t>(table.features) * sizeof(float);
    if (features_ > 0 || bytes <= std::max(kFreeBytes, text_bytes_ * kMostPerByte)) return;
    bad_data(path_, "line " + std::to_string(highest_line_),
             "the index " + std::to_string(highest_) + " makes a table of " + std::to_string(table.rows) +
                 " rows and " + std::to_string(table.features) + " features, which takes " + base::human_bytes(bytes) +
                 ", more than " + std::to_string(kMostPerByte) + " times the " + base::human_bytes(text_bytes_) +
                 " of text; if the index is right, number the features without gaps, or keep the frequent ones");
  }

  RawTable finish() {
    if (part_.labels.values.empty()) bad_data(path_, "", "has no rows; check the path");
    Table& table = part_.table;
    table.rows = static_cast<int64_t>(ends_.size());
    table.features = features_ > 0 ? features_ : highest_;
    if (table.features == 0) bad_data(path_, "", "has labels but no index:value pair; check the path");
    if (!sparse_) check_density(table);
    const bool exact = exact_ && std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
                         return double{static_cast<float>(entry.value)} != entry.value;
                       });
    if (sparse_)
      take_sparse(exact);
    else
      take_dense(exact);
    part_.path = path_;
    part_.text_bytes = text_bytes_;
    return std::move(part_);
  }

  void take_sparse(bool exact) {
    Table& table = part_.table;
    table.starts = {0};
    table.starts.insert(table.starts.end(), ends_.begin(), ends_.end());
    table.column.reserve(entries_.size());
    table.x.reserve(entries_.size());
    if (exact) table.exact.reserve(entries_.size());
    for (const Entry& entry : entries_) {
      table.column.push_back(entry.index);
      table.x.push_back(static_cast<float>(entry.value));
      if (exact) table.exact.push_back(entry.value);
    }
  }

  void take_dense(bool exact) {
    Table& table = part_.table;
    const size_t each = sizeof(float) + (exact ? sizeof(double) : 0);
    table.x.assign(checked_count(path_, table.rows, table.features, each), 0.0F);
    if (exact) table.exact.assign(table.x.size(), 0.0);
    size_t from = 0;
    for (size_t row = 0; row < ends_.size(); ++row)
      for (; from < ends_[row]; ++from)
        table.set(row * static_cast<size_t>(table.features) + static_cast<size_t>(entries_[from].index),
                  entries_[from].value);
  }

  const std::string path_;
  const int64_t limit_;
  const int64_t features_;
  const bool exact_;
  const bool sparse_;
  int64_t line_ = 0;
  uint64_t text_bytes_ = 0;
  int32_t highest_ = 0;
  int64_t highest_line_ = 0;
  std::vector<Entry> entries_;
  std::vector<size_t> ends_;  // end of each kept row's entries
  RawTable part_;
};

}  // namespace

RawTable read_libsvm(const std::string& path, int64_t limit, int64_t features, bool exact, bool sparse) {
  return LibsvmReader(path, limit, features, exact, sparse).read();
}

StorageChoice choose_storage(const Table& train, const Table& test) {
  constexpr uint64_t kLargeBytes = uint64_t{256} << 20;
  constexpr double kSmallShare = 0.1;
  const uint64_t cells = static_cast<uint64_t>(train.rows + test.rows) * static_cast<uint64_t>(train.features);
  const uint64_t bytes = cells * sizeof(float);
  const double share = static_cast<double>(train.x.size() + test.x.size()) / static_cast<double>(cells);
  const std::string size = base::human_bytes(bytes), limit = base::human_bytes(kLargeBytes);
  const std::string filled = share < 1e-4 ? "under 0.01 %" : fmt::format("{:.2g} %", 100 * share);
  if (bytes <= kLargeBytes)
    return {false, fmt::format("the rows become dense, because they then take only {}, at most {}", size, limit)};
  if (share >= kSmallShare)
    return {false, fmt::format("the rows become dense, because {} of their values are not 0, at least {:.2g} %", filled,
                               100 * kSmallShare)};
  return {true, fmt::format("the rows remain sparse, because dense ones would take {}, more than {}, and {} of their "
                            "values are not 0, less than {:.2g} %",
                            size, limit, filled, 100 * kSmallShare)};
}

void make_dense(RawTable& part) {
  Table& table = part.table;
  Table sparse;
  std::swap(sparse.x, table.x);
  std::swap(sparse.exact, table.exact);
  std::swap(sparse.starts, table.starts);
  std::swap(sparse.column, table.column);
  const bool exact = !sparse.exact.empty();
  const size_t each = sizeof(float) + (exact ? sizeof(double) : 0);
  table.x.assign(checked_count(part.path, table.rows, table.features, each), 0.0F);
  if (exact) table.exact.assign(table.x.size(), 0.0);
  for (size_t row = 0; row + 1 < sparse.starts.size(); ++row)
    for (auto at = static_cast<size_t>(sparse.starts[row]); at < static_cast<size_t>(sparse.starts[row + 1]); ++at)
      table.set(row * static_cast<size_t>(table.features) + static_cast<size_t>(sparse.column[at]), sparse.value(at));
}

void widen(const std::string& path, int64_t features, RawTable& part) {
  Table& table = part.table;
  if (features <= table.features) return;
  if (table.sparse()) {
    table.features = features;
    return;
  }
  const uint64_t bytes = static_cast<uint64_t>(table.rows) * static_cast<uint64_t>(features) * sizeof(float);
  if (bytes > std::max(kFreeBytes, part.text_bytes * kMostPerByte))
    bad_data(path, "",
             "has the index " + std::to_string(features) + ", which makes a table of " + base::human_bytes(bytes) +
                 " of the rows of '" + part.path + "'; if the index is right, number the features without gaps");
  checked_count(path, table.rows, features, sizeof(float) + (table.exact.empty() ? 0 : sizeof(double)));
  const auto widened = [&](const auto& narrow) {
    std::decay_t<decltype(narrow)> wide;
    wide.reserve(static_cast<size_t>(table.rows * features));
    for (auto row = narrow.begin(); row != narrow.end(); row += table.features) {
      wide.insert(wide.end(), row, row + table.features);
      wide.resize(wide.size() + static_cast<size_t>(features - table.features));
    }
    return wide;
  };
  table.x = widened(table.x);
  table.exact = widened(table.exact);
  table.features = features;
}

}  // namespace mokume::data
