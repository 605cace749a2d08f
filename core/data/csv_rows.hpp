// Reads records of RFC 4180 one at a time, with any delimiter.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_format.hpp"

namespace mokume::data {

// Follows Y. Shafranovich, "Common Format and MIME Type for Comma-Separated Values (CSV) Files", RFC 4180, 2005. Both
// LF and CRLF end a record. Skips empty lines between records, and the comments that the format has.
class CsvRows {
 public:
  CsvRows(const std::string& path, std::string_view text, const CsvFormat& format)
      : path_(path),
        rest_(text),
        delimiter_(format.delimiter),
        comments_(format.comments),
        header_in_comment_(format.header_in_comment) {}

  // Reads the cells of the next record and strips surrounding blanks. The cells stay valid until the next call. Returns
  // false at the end of the text. Throws Error(MK_BAD_DATA) for misplaced quotes.
  bool next(std::vector<std::string_view>& cells);
  int64_t line() const { return record_line_; }    // line where the record starts, counted from 1
  std::string_view rest() const { return rest_; }  // text after the record
  void add_lines(int64_t more) { line_ += more; }

 private:
  bool ends_cell(char c) const { return c == delimiter_ || c == '\n' || (delimiter_ == ' ' && c == '\t'); }
  void skip_to_record();
  void skip_blanks();
  std::string_view plain_cell();
  std::string_view quoted_cell();
  [[noreturn]] void fail(const std::string& what) const;

  const std::string& path_;
  std::string_view rest_;
  char delimiter_;
  bool comments_, header_in_comment_;
  int64_t line_ = 1;
  int64_t record_line_ = 0;
  std::deque<std::string> unescaped_;  // text of cells that had doubled quotes; a deque does not move its elements
};

}  // namespace mokume::data
