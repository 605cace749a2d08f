#include "data/csv_rows.hpp"

#include <algorithm>

#include "data/input.hpp"

namespace mokume::data {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

void CsvRows::fail(const std::string& what) const { bad_data(path_, "line " + std::to_string(line_), what); }

std::string_view CsvRows::plain_cell() {
  size_t end = 0;  // on short cells, find_first_of() is several times slower
  while (end < rest_.size() && !ends_cell(rest_[end]) && rest_[end] != '"') ++end;
  if (end < rest_.size() && rest_[end] == '"')
    fail("there is a quote inside the cell " + quoted(rest_.substr(0, end + 1)) +
         "; put the whole cell in quotes and double the quotes inside");
  const std::string_view cell = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return trimmed(cell);
}

std::string_view CsvRows::quoted_cell() {
  const int64_t first_line = line_;
  rest_.remove_prefix(1);
  const std::string_view start = rest_;
  size_t length = 0;
  bool doubled = false;
  for (;;) {
    length = start.find('"', length);
    if (length == std::string_view::npos) {
      line_ = first_line;
      fail("the quote before " + quoted(start.substr(0, start.find('\n'))) + " is never closed; close it");
    }
    if (length + 1 >= start.size() || start[length + 1] != '"') break;
    doubled = true;
    length += 2;
  }
  const std::string_view cell = start.substr(0, length);
  line_ += std::count(cell.begin(), cell.end(), '\n');
  rest_.remove_prefix(length + 1);
  size_t end = 0;
  while (end < rest_.size() && !ends_cell(rest_[end])) ++end;
  if (!trimmed(rest_.substr(0, end)).empty())
    fail("found " + quoted(rest_.substr(0, end)) + " after a closing quote; put the whole cell in quotes");
  rest_.remove_prefix(end);
  if (!doubled) return trimmed(cell);
  std::string& plain = unescaped_.emplace_back();
  for (size_t i = 0; i < cell.size(); ++i) {
    plain += cell[i];
    if (cell[i] == '"') ++i;
  }
  return trimmed(plain);
}

// Skips empty lines and comments, but not the comment that names the columns, of which it skips the #.
void CsvRows::skip_to_record() {
  for (; !rest_.empty(); ++line_) {
    if (delimiter_ == ' ') skip_blanks();
    size_t length = 0;
    if (comments_ && rest_.starts_with('#')) {
      length = std::min(rest_.find('\n'), rest_.size());
      if (header_in_comment_ && !rest_.substr(std::min(length + 1, rest_.size())).starts_with('#')) {
        header_in_comment_ = false;
        rest_.remove_prefix(1);
        return;
      }
    } else if (!rest_.starts_with('\n')) {
      if (!rest_.starts_with("\r\n")) return;
      length = 1;
    }
    rest_.remove_prefix(std::min(length + 1, rest_.size()));
  }
}

void CsvRows::skip_blanks() {
  const size_t first = rest_.find_first_not_of(delimiter_ == '\t' ? " " : " \t");
  rest_.remove_prefix(std::min(first, rest_.size()));
}

bool CsvRows::next(std::vector<std::string_view>& cells) {
  cells.clear();
  unescaped_.clear();
  skip_to_record();
  if (rest_.empty()) return false;
  record_line_ = line_;
  if (delimiter_ == ' ') skip_blanks();
  for (;;) {
    const size_t first = rest_.find_first_not_of(delimiter_ == '\t' ? " " : " \t");
    const bool quote = first != std::string_view::npos && rest_[first] == '"';
    if (quote) rest_.remove_prefix(first);
    cells.push_back(quote ? quoted_cell() : plain_cell());
    if (delimiter_ == ' ') {
      skip_blanks();
      if (rest_.starts_with("\r\n") || rest_ == "\r") rest_.remove_prefix(1);
      if (!rest_.empty() && rest_[0] != '\n') continue;
    }
    if (rest_.empty()) return true;
    const char separator = rest_[0];
    rest_.remove_prefix(1);
    if (separator == '\n') {
      ++line_;
      return true;
    }
  }
}

}  // namespace mokume::data
