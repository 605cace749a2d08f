// Detects the format of a CSV file from its first records, because files seldom declare it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace mokume::data {

struct CsvFormat {
  char delimiter = ',';        // ' ' stands for any number of spaces and tabs
  bool decimal_comma = false;  // 1,5 means one and a half
  bool header = true;          // the first row names the columns
  bool row_names = false;      // the header has one name less than the rows have cells; the first cell is a row's name
  bool comments = false;       // lines that begin with # hold no rows
  bool header_in_comment = false;  // the last of the comments before the rows names the columns

  bool operator==(const CsvFormat&) const = default;
};

// Holds what is known of a file before it is read.
struct CsvExpected {
  std::unordered_set<std::string> names = {};  // a first row that holds one of them is a header
  bool no_header = false;                      // the training file has none, so that other files have none either
  bool decimal_comma = false;                  // the training file has decimal commas
};

// Detects the format from the first records of `text` (at most 200, within the first mebibyte):
//   delimiter      is the comma, semicolon, tab or vertical bar that splits the first record into the most cells. One
//                  that splits all records into the same number of cells takes precedence. If none of them occurs,
//                  blanks separate the cells.
//   decimal_comma  is true if the delimiter is not a comma, replacing the comma makes some cell a number, and no number
//                  has a point. It is false if all such commas may as well mark thousands, as in 2,288, unless it is
//                  expected.
//   header         is true if the first record holds an expected name; otherwise if it has a cell that is not a number,
//                  or if its cells are 0, 1, 2, ... or 1, 2, 3, .... It is false if the first record looks like the
//                  others: a word, or all of the cells that count up, occur again in their columns, and a column of
//                  numbers starts with a number.
//   row_names      is true if each row has one cell more than the header, and the first cells differ and are in quotes
//                  or followed by blanks, as R writes them.
//   comments       is true if the text begins with #, unless the first cell is an expected name.
CsvFormat detect_csv(const std::string& path, std::string_view text, const CsvExpected& expected = {});

// Describes the format, e.g. "cells are separated by tabs, 1,5 is a number". Returns "" for the format of RFC 4180.
std::string to_text(const CsvFormat& format);

// Returns whether a cell marks a missing value: it is empty, ?, NA, N/A, NaN or null, in upper or lower case.
bool is_missing_cell(std::string_view cell);

// Returns whether commas may separate thousands in the cell, as in 2,288 or 12,345,678, with an optional sign.
bool may_hold_thousands(std::string_view cell);

// Parses a number like parse_number() in labels.hpp, and accepts a decimal comma if the format has one.
bool parse_number(const CsvFormat& format, std::string_view cell, float& value);
bool parse_number(const CsvFormat& format, std::string_view cell, double& value);

}  // namespace mokume::data
