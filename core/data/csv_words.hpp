// Collects the cells of a column of numbers that are no numbers, and says how to cure them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::data {

// Holds the strange cells of one column: words in a column of numbers, or unknown levels in a categorical column.
struct StrangeCells {
  std::string column;
  int64_t count = 0;
  std::string first;
  int64_t first_line = 0;
  std::set<std::string> words = {};  // up to kMostWords different cells

  static constexpr size_t kMostWords = 1000;

  void add(std::string_view cell, int64_t line);
};

// Returns one sentence on all columns of `strange` that have such cells, with the place of the first one, the number of
// cells among the `rows` and a cure for each column. Returns "" if no column has any. The cure depends on what the
// cells look like: numbers with thousands or units, dates, names of rows or of groups, or categories.
std::string words_and_cures(const std::vector<StrangeCells>& strange, int64_t rows);

// Returns "2288 or 2.288" for 2,288.
std::string both_readings(std::string_view cell);

// Returns a list such as "'a', 'b', ..." of at most twelve names.
std::string names(const std::vector<std::string>& list);

}  // namespace mokume::data
