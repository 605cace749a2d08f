#include "data/csv_format.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "data/csv_rows.hpp"
#include "data/labels.hpp"
#include "sdk/error.hpp"

namespace mokume::data {
namespace {

constexpr size_t kSampleBytes = size_t{1} << 20;
constexpr size_t kSampleRecords = 200;
constexpr char kDelimiters[] = {',', ';', '\t', '|'};

using Record = std::vector<std::string>;

// Returns the text up to the last line end within the sample.
std::string_view sample_of(std::string_view text) {
  if (text.size() <= kSampleBytes) return text;
  const std::string_view start = text.substr(0, kSampleBytes);
  const size_t end = start.rfind('\n');
  return end == std::string_view::npos ? start : start.substr(0, end + 1);
}

// Returns the records before the first one that is unreadable with this delimiter.
std::vector<Record> records_of(const std::string& path, std::string_view text, char delimiter) {
  std::vector<Record> records;
  std::vector<std::string_view> cells;
  try {
    for (CsvRows rows(path, text, delimiter); records.size() < kSampleRecords && rows.next(cells);)
      records.emplace_back(cells.begin(), cells.end());
  } catch (const Error&) {  // the reader of the whole file reports the problem
  }
  return records;
}

bool same_width(const std::vector<Record>& records) {
  return records.front().size() > 1 && std::all_of(records.begin(), records.end(), [&](const Record& one) {
           return one.size() == records.front().size();
         });
}

char choose_delimiter(const std::string& path, std::string_view text) {
  char best = ',';
  std::pair<bool, size_t> score;  // whether all records have the same width; number of cells in the first record
  for (const char delimiter : kDelimiters) {
    const std::vector<Record> records = records_of(path, text, delimiter);
    if (records.empty()) continue;
    const std::pair<bool, size_t> its{same_width(records), records.front().size()};
    if (its <= score) continue;
    score = its;
    best = delimiter;
  }
  return best;
}

bool has_decimal_commas(const std::vector<Record>& records) {
  const CsvFormat with{';', true, true};
  bool found = false;
  for (const Record& record : records)
    for (const std::string& cell : record) {
      double value = 0;
      if (cell.find('.') != std::string::npos && parse_number(cell, value)) return false;
      found = found || (cell.find(',') != std::string::npos && parse_number(with, cell, value));
    }
  return found;
}

// Returns whether the names are 0, 1, 2, ... or 1, 2, 3, ..., which some tools write for unnamed columns.
bool counts_up(const Record& record) {
  for (const size_t first : {size_t{0}, size_t{1}}) {
    bool all = true;
    for (size_t i = 0; i < record.size(); ++i) all = all && record[i] == std::to_string(first + i);
    if (all) return true;
  }
  return false;
}

bool is_header(const CsvFormat& format, const std::vector<Record>& records) {
  const auto is_number = [&](const std::string& cell) {
    double value = 0;
    return parse_number(format, cell, value);
  };
  return records.empty() || !std::all_of(records[0].begin(), records[0].end(), is_number) || counts_up(records[0]);
}

template <class Float>
bool parse(const CsvFormat& format, std::string_view cell, Float& value) {
  if (!format.decimal_comma || cell.find(',') == std::string_view::npos) return parse_number(cell, value);
  std::string text(cell);
  std::replace(text.begin(), text.end(), ',', '.');
  return parse_number(text, value);
}

}  // namespace

CsvFormat detect_csv(const std::string& path, std::string_view text) {
  const std::string_view sample = sample_of(text);
  CsvFormat format;
  format.delimiter = choose_delimiter(path, sample);
  const std::vector<Record> records = records_of(path, sample, format.delimiter);
  format.decimal_comma = format.delimiter != ',' && has_decimal_commas(records);
  format.header = is_header(format, records);
  return format;
}

std::string to_text(const CsvFormat& format) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (format.delimiter == ';') add("cells are separated by semicolons");
  if (format.delimiter == '\t') add("cells are separated by tabs");
  if (format.delimiter == '|') add("cells are separated by vertical bars");
  if (format.decimal_comma) add("1,5 is a number");
  if (!format.header) add("the first row holds data, and the columns are called column 1, column 2, ...");
  return text;
}

bool is_missing_cell(std::string_view cell) {
  if (cell.empty() || cell == "?") return true;
  if (cell.size() > 4 || (cell.front() != 'n' && cell.front() != 'N')) return false;
  std::string word(cell);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word == "na" || word == "n/a" || word == "nan" || word == "null";
}

bool parse_number(const CsvFormat& format, std::string_view cell, float& value) { return parse(format, cell, value); }
bool parse_number(const CsvFormat& format, std::string_view cell, double& value) { return parse(format, cell, value); }

}  // namespace mokume::data
