// Prints the rows of a table as CSV for people and spreadsheets, or as JSON for programs.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mokume::app {

// CSV has a header, and an empty cell for a missing value. JSON has one object per line, and null for a value that is
// missing or not finite. Numbers are the shortest text that reads back as the same float or double.
class RowPrinter {
 public:
  using Cell = std::variant<std::monostate, size_t, float, double, std::string_view>;

  // Writes the header of CSV. The names of the columns must differ.
  RowPrinter(bool json, const std::vector<std::string>& columns);

  void print(const std::vector<Cell>& row) const;  // requires one cell per column

 private:
  std::string text(const Cell& cell) const;

  bool json_;
  std::vector<std::string> names_;  // as printed
};

}  // namespace mokume::app
