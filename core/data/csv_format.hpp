// Detects the format of a CSV file from its first records, because files seldom declare it.
#pragma once

#include <string>
#include <string_view>

namespace mokume::data {

struct CsvFormat {
  char delimiter = ',';
  bool decimal_comma = false;  // 1,5 means one and a half
  bool header = true;          // the first row names the columns

  bool operator==(const CsvFormat&) const = default;
};

// Detects the format from the first records of `text` (at most 200, within the first mebibyte):
//   delimiter      is the comma, semicolon, tab or vertical bar that splits the first record into the most cells. One
//                  that splits all records into the same number of cells takes precedence.
//   decimal_comma  is true if the delimiter is not a comma, replacing the comma makes some cell a number, and no number
//                  has a point.
//   header         is true if the first record has a cell that is not a number, or if its cells are 0, 1, 2, ... or
//                  1, 2, 3, ...
CsvFormat detect_csv(const std::string& path, std::string_view text);

// Describes the format, e.g. "cells are separated by tabs, 1,5 is a number". Returns "" for the format of RFC 4180.
std::string to_text(const CsvFormat& format);

// Returns whether a cell marks a missing value: it is empty, ?, NA, N/A, NaN or null, in upper or lower case.
bool is_missing_cell(std::string_view cell);

// Parses a number like parse_number() in labels.hpp, and accepts a decimal comma if the format has one.
bool parse_number(const CsvFormat& format, std::string_view cell, float& value);
bool parse_number(const CsvFormat& format, std::string_view cell, double& value);

}  // namespace mokume::data
