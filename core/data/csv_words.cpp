#include "data/csv_words.hpp"

#include <algorithm>
#include <array>

#include "data/csv_format.hpp"
#include "data/input.hpp"
#include "data/labels.hpp"

namespace mokume::data {
namespace {

// Kinds of columns with words, in the order in which the cures are named.
enum class Kind { mixed, thousands, unit, date, categorical, group, name };

constexpr std::array<std::array<std::string_view, 2>, 7> kCures = {{
    {"correct such cells of ", " or leave them empty"},
    {"write the numbers of ", " without commas between thousands, or with a point before the fraction"},
    {"write the numbers of ", " without units"},
    {"turn the dates of ", " into numbers, such as days, or list the column in data.ignore"},
    {"list ", " in data.categorical"},
    {"list ", ", whose values name groups of rows, in data.ignore or in validation.group"},
    {"list ", ", whose values name single rows, in data.ignore"},
}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns whether the text is a number followed by a unit, such as 10.4% or 5 kg.
bool has_unit(const std::string& text) {
  const size_t last = text.find_last_of("0123456789");
  if (last == std::string::npos || last + 1 == text.size()) return false;
  double value = 0;
  std::string number = text.substr(0, last + 1);
  std::erase(number, ',');
  return parse_number(number, value);
}

// Returns whether the text consists of two or more numbers separated by -, /, ., : or blanks, such as 2026-11-28.
bool is_date(const std::string& text) {
  constexpr std::string_view kBetween = "-/.: TZ+";
  size_t numbers = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i]) && kBetween.find(text[i]) == std::string_view::npos) return false;
    if (is_digit(text[i]) && (i == 0 || !is_digit(text[i - 1]))) ++numbers;
  }
  return numbers >= 3 || (numbers == 2 && text.find_first_of("/:-", 1) != std::string::npos);
}

template <class Test>
bool most(const std::set<std::string>& words, const Test& test) {
  return 2 * std::count_if(words.begin(), words.end(), test) > static_cast<std::ptrdiff_t>(words.size());
}

Kind kind_of(const StrangeCells& column, int64_t rows) {
  constexpr int64_t kFewRowsEach = 10;  // a category with fewer rows is hardly one
  constexpr size_t kManyWords = 50;
  const std::set<std::string>& words = column.words;
  if (most(words, may_hold_thousands)) return Kind::thousands;
  if (2 * column.count < rows) return Kind::mixed;
  if (most(words, has_unit)) return Kind::unit;
  if (most(words, is_date)) return Kind::date;
  if (static_cast<int64_t>(words.size()) == rows && rows > 2) return Kind::name;
  if (words.size() == StrangeCells::kMostWords) return Kind::group;
  const bool few_each = static_cast<int64_t>(words.size()) * kFewRowsEach > rows;
  return words.size() > kManyWords && few_each ? Kind::group : Kind::categorical;
}

std::string place_of(const StrangeCells& column, int64_t rows) {
  const std::string different =
      std::to_string(column.words.size()) + (column.words.size() < StrangeCells::kMostWords ? "" : " or more");
  return "line " + std::to_string(column.first_line) + ", column " + quoted(column.column) + ": found " +
         quoted(column.first) +
         (may_hold_thousands(column.first) ? ", which may be " + both_readings(column.first) : "") +
         ", not a finite float32 number (" + std::to_string(column.count) + " of " + std::to_string(rows) + " cells, " +
         different + " different)";
}

}  // namespace

void StrangeCells::add(std::string_view cell, int64_t line) {
  if (count++ == 0) {
    first = cell;
    first_line = line;
  }
  if (words.size() < kMostWords) words.emplace(cell);
}

std::string both_readings(std::string_view cell) {
  std::string thousands(cell), point(cell);
  std::erase(thousands, ',');
  std::replace(point.begin(), point.end(), ',', '.');
  return thousands + " or " + point;
}

std::string names(const std::vector<std::string>& list) {
  constexpr size_t kMost = 12;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, list.size()); ++i) text += (i == 0 ? "" : ", ") + quoted(list[i]);
  return text + (list.size() > kMost ? ", ..." : "");
}

std::string words_and_cures(const std::vector<StrangeCells>& strange, int64_t rows) {
  constexpr size_t kMostPlaces = 12;
  std::string places, cures;
  size_t more = 0;
  std::array<std::vector<std::string>, kCures.size()> by_kind;
  for (const StrangeCells& column : strange) {
    if (column.count == 0) continue;
    std::vector<std::string>& alike = by_kind[static_cast<size_t>(kind_of(column, rows))];
    alike.push_back(column.column);
    if (places.empty() || strange.size() <= kMostPlaces || alike.size() <= 2) {
      places += (places.empty() ? "" : "; ") + place_of(column, rows);
    } else {
      ++more;
    }
  }
  if (places.empty()) return "";
  if (more > 0) places += "; and " + std::to_string(more) + " more columns with words";
  for (size_t k = 0; k < by_kind.size(); ++k)
    if (!by_kind[k].empty())
      cures +=
          (cures.empty() ? "" : ", and ") + std::string(kCures[k][0]) + names(by_kind[k]) + std::string(kCures[k][1]);
  return places + "; " + cures;
}

}  // namespace mokume::data
