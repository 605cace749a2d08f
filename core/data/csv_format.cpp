#include "data/csv_format.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <unordered_set>
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

// Returns the records before the first one that is unreadable in this format.
std::vector<Record> records_of(const std::string& path, std::string_view text, const CsvFormat& format) {
  std::vector<Record> records;
  std::vector<std::string_view> cells;
  try {
    for (CsvRows rows(path, text, format); records.size() < kSampleRecords && rows.next(cells);)
      records.emplace_back(cells.begin(), cells.end());
  } catch (const Error&) {  // the reader of the whole file reports the problem
  }
  return records;
}

bool same_width(const std::vector<Record>& records) {
  return !records.empty() && records.front().size() > 1 &&
         std::all_of(records.begin(), records.end(),
                     [&](const Record& one) { return one.size() == records.front().size(); });
}

// Returns whether each record has one cell more than the first one, and begins with a name of its own.
bool has_row_names(const std::vector<Record>& records) {
  std::unordered_set<std::string> names;
  for (size_t r = 1; r < records.size(); ++r)
    if (records[r].size() != records[0].size() + 1 || !names.insert(records[r][0]).second) return false;
  return !names.empty();
}

char choose_delimiter(const std::string& path, std::string_view text, CsvFormat format, const CsvExpected& expected) {
  char best = ',';
  std::pair<bool, size_t> score;  // whether all records have the same width; number of cells in the first record
  for (const char delimiter : kDelimiters) {
    format.delimiter = delimiter;
    const std::vector<Record> records = records_of(path, text, format);
    if (records.empty()) continue;
    const std::pair<bool, size_t> its{same_width(records), records.front().size()};
    if (its <= score) continue;
    score = its;
    best = delimiter;
  }
  if (score.second > 1) return best;
  format.delimiter = ' ';
  const std::vector<Record> records = records_of(path, text, format);
  if (!same_width(records) && !has_row_names(records)) return best;
  format.delimiter = best;
  const std::vector<Record> whole = records_of(path, text, format);
  return !whole.empty() && expected.names.contains(whole[0][0]) ? best : ' ';  // a name may hold blanks
}

bool has_decimal_commas(const std::vector<Record>& records, bool expected) {
  CsvFormat with;
  with.decimal_comma = true;
  bool certain = false, unclear = false;  // whether some comma cannot, or may, separate thousands
  for (const Record& record : records)
    for (const std::string& cell : record) {
      double value = 0;
      if (cell.find('.') != std::string::npos && parse_number(cell, value)) return false;
      if (cell.find(',') == std::string::npos || !parse_number(with, cell, value)) continue;
      (may_hold_thousands(cell) ? unclear : certain) = true;
    }
  return certain || (unclear && expected);
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

bool is_number(const CsvFormat& format, const std::string& cell) {
  double value = 0;
  return parse_number(format, cell, value);
}

// Holds what the first record has in common with the others.
struct Likeness {
  bool numbers = true;      // in each column of numbers, it has a number, or its cell is missing
  bool some_again = false;  // one of its words occurs again in its column
  bool all_again = true;    // each of its cells occurs again in its column
};

Likeness compare_first(const CsvFormat& format, const std::vector<Record>& records) {
  Likeness like;
  const Record& first = records[0];
  for (size_t c = 0; c < first.size(); ++c) {
    bool numbers = records.size() > 1, again = false;
    for (size_t r = 1; r < records.size(); ++r) {
      if (c >= records[r].size()) continue;
      numbers = numbers && (is_missing_cell(records[r][c]) || is_number(format, records[r][c]));
      again = again || records[r][c] == first[c];
    }
    const bool word = !is_missing_cell(first[c]) && !is_number(format, first[c]);
    if (numbers && word) like.numbers = false;
    if (again && word) like.some_again = true;
    if (!again) like.all_again = false;
  }
  return like;
}

bool holds_a_name(const CsvExpected& expected, const Record& record) {
  return std::any_of(record.begin(), record.end(),
                     [&](const std::string& cell) { return expected.names.contains(cell); });
}

bool is_header(const CsvFormat& format, const std::vector<Record>& records, const CsvExpected& expected) {
  if (records.empty()) return true;
  const Record& first = records[0];
  if (holds_a_name(expected, first)) return true;
  if (expected.no_header) return false;
  const Likeness like = compare_first(format, records);
  if (std::all_of(first.begin(), first.end(), [&](const std::string& cell) { return is_number(format, cell); }))
    return counts_up(first) && !like.all_again;
  const bool repeated = std::find(records.begin() + 1, records.end(), first) != records.end();
  return repeated || !like.numbers || !like.some_again;
}

// Returns the text after the last of the lines that begin with # at the start, and sets `last` to that line without #.
std::string_view after_comments(std::string_view text, std::string_view& last) {
  while (text.starts_with('#')) {
    const size_t end = std::min(text.find('\n'), text.size());
    last = text.substr(1, end - 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return text;
}

// Returns whether the last of the comments before the rows has as many cells as the first row, and names the columns.
bool comment_is_header(const std::string& path, std::string_view text, const CsvFormat& format,
                       const CsvExpected& expected) {
  std::string_view comment;
  const std::string_view body = after_comments(text, comment);
  std::vector<Record> records = records_of(path, comment, format), rows = records_of(path, body, format);
  if (records.size() != 1 || rows.empty() || records[0].size() != rows[0].size() || rows[0].size() < 2) return false;
  const Likeness like = compare_first(format, rows);
  const bool number =
      std::any_of(rows[0].begin(), rows[0].end(), [&](const std::string& cell) { return is_number(format, cell); });
  const bool data = like.some_again || (like.numbers && number);
  if (!data || holds_a_name(expected, rows[0])) return false;
  records.insert(records.end(), rows.begin(), rows.end());
  return is_header(format, records, expected);
}

// Returns whether the text begins with a comment, not with a column that is called # or #a.
bool begins_with_comment(const std::string& path, std::string_view text, const CsvExpected& expected) {
  if (!text.starts_with('#')) return false;
  for (const char delimiter : kDelimiters) {
    CsvFormat format;
    format.delimiter = delimiter;
    const std::vector<Record> records = records_of(path, text.substr(0, text.find('\n')), format);
    if (!records.empty() && expected.names.contains(records[0][0])) return false;
  }
  return true;
}

template <class Float>
bool parse(const CsvFormat& format, std::string_view cell, Float& value) {
  if (!format.decimal_comma || cell.find(',') == std::string_view::npos) return parse_number(cell, value);
  std::string text(cell);
  std::replace(text.begin(), text.end(), ',', '.');
  return parse_number(text, value);
}

}  // namespace

CsvFormat detect_csv(const std::string& path, std::string_view text, const CsvExpected& expected) {
  const std::string_view sample = sample_of(text);
  CsvFormat format;
  format.comments = begins_with_comment(path, sample, expected);
  format.delimiter = choose_delimiter(path, sample, format, expected);
  format.header_in_comment = format.comments && comment_is_header(path, sample, format, expected);
  const std::vector<Record> records = records_of(path, sample, format);
  format.decimal_comma = format.delimiter != ',' && has_decimal_commas(records, expected.decimal_comma);
  const size_t second = sample.find('\n');
  const bool quotes = second != std::string_view::npos && sample.substr(second + 1).starts_with('"');
  format.row_names = (format.delimiter == ' ' || quotes) && has_row_names(records);
  format.header = format.header_in_comment || format.row_names || is_header(format, records, expected);
  return format;
}

std::string to_text(const CsvFormat& format) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (format.delimiter == ';') add("cells are separated by semicolons");
  if (format.delimiter == '\t') add("cells are separated by tabs");
  if (format.delimiter == '|') add("cells are separated by vertical bars");
  if (format.delimiter == ' ') add("cells are separated by blanks");
  if (format.decimal_comma) add("1,5 is a number");
  if (!format.header) add("the first row holds data, and the columns are called column 1, column 2, ...");
  if (format.row_names) add("the first cell of each row is its name, which is no feature");
  if (format.header_in_comment) add("the comment before the rows names the columns");
  if (format.comments && !format.header_in_comment) add("lines that begin with # are comments");
  return text;
}

bool may_hold_thousands(std::string_view cell) {
  if (cell.starts_with('-') || cell.starts_with('+')) cell.remove_prefix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const size_t first = std::min(cell.find(','), cell.size());
  if (first == 0 || first > 3 || cell.size() == first || cell[0] == '0' || (cell.size() - first) % 4 != 0) return false;
  for (size_t i = 0; i < cell.size(); ++i) {
    const bool comma = i >= first && (i - first) % 4 == 0;
    if (comma ? cell[i] != ',' : !is_digit(cell[i])) return false;
  }
  return true;
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
