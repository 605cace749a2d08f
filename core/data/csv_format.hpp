// Detects the format of a CSV file from its first records, because files seldom declare it.
#pragma once

#include <string>
#include <string_view>

namespace mokume::data {

struct CsvFormat {
  char delimiter = ',';
  bool decimal_comma = false;  // reads 1,5 as one and a half
  bool header = true;          // the first row names the columns

  bool operator==(const CsvFormat&) const = default;
};

// Looks at the first records of the text (at most 200, within its first mebibyte):
//   delimiter      comma, semicolon, tab or vertical bar. Prefers one that splits all records into the same number of
//                  cells, then the one that splits the first record into the most cells.
//   decimal comma  yes if the delimiter is not a comma, replacing the comma makes some cell a number, and no number
//                  has a point.
//   header         yes if the first record has a cell that is not a number, or if its cells count 0, 1, 2, ... or
//                  1, 2, 3, ...
CsvFormat detect_csv(const std::string& path, std::string_view text);

// Describes the format: "cells are separated by semicolons, 1,5 is a number, the first row holds data". Returns "" for
// the format of RFC 4180.
std::string to_text(const CsvFormat& format);

// Tells whether a cell marks a missing value: it is empty, ?, NA, N/A, NaN or null, in upper or lower case.
bool is_missing_cell(std::string_view cell);

// Like parse_number(), but reads a decimal comma if the format has one.
bool parse_number(const CsvFormat& format, std::string_view cell, float& value);
bool parse_number(const CsvFormat& format, std::string_view cell, double& value);

}  // namespace mokume::data
