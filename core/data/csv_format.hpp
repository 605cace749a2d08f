// How a CSV file is written: found by looking at it, since files seldom say.
#pragma once

#include <string>
#include <string_view>

namespace mokume::data {

struct CsvFormat {
  char delimiter = ',';
  bool decimal_comma = false;  // 1,5 is one and a half
  bool header = true;          // the first row names the columns

  bool operator==(const CsvFormat&) const = default;
};

// Looks at the first records of the text (at most 200, within its first mebibyte):
//   delimiter      the one of comma, semicolon, tab and vertical bar that gives all of them the same number of cells,
//                  the most where several do; without one, that which gives the first record the most
//   decimal comma  the delimiter is no comma, a cell is a number if its comma is a point, and none has a point
//   header         the first record has a cell that is no number, or its cells count 0, 1, 2, ... or 1, 2, 3, ...
CsvFormat detect_csv(const std::string& path, std::string_view text);

// "cells are separated by semicolons, 1,5 is a number, the first row holds data"; "" for what RFC 4180 describes.
std::string to_text(const CsvFormat& format);

// Whether a cell stands for a missing value: it is empty, ?, NA, N/A, NaN or null, in any case of letters.
bool is_missing_cell(std::string_view cell);

// As parse_number(), with a decimal comma where the format has one.
bool parse_number(const CsvFormat& format, std::string_view cell, float& value);
bool parse_number(const CsvFormat& format, std::string_view cell, double& value);

}  // namespace mokume::data
