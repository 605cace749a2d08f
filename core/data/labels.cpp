#include "data/labels.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/text.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

constexpr size_t kMostNumericClasses = 1000;

bool whole(double value) { return std::abs(value) < 0x1p53 && value == std::floor(value); }

std::string whole_text(double value) { return std::to_string(static_cast<int64_t>(value)); }

std::string text_of(const Labels& labels, size_t row) {
  return labels.texts.empty() ? base::shortest(labels.values[row]) : labels.texts[row];
}

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <class Float>
bool parse_all(std::string_view text, Float& value, std::errc& code) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  code = result.ec;
  return !text.empty() && result.ptr == text.data() + text.size() && code != std::errc::invalid_argument;
}

// Returns whether all numbers are whole and some of them, written in digits, are too large for double to tell them from
// their neighbours.
bool has_long_numbers(const Labels& labels) {
  bool some = false;
  for (size_t i = 0; i < labels.values.size(); ++i) {
    if (labels.values[i] != std::floor(labels.values[i])) return false;
    const bool digits = labels.texts.empty() || labels.texts[i].find_first_not_of("+-0123456789") == std::string::npos;
    some = some || (digits && std::abs(labels.values[i]) >= 0x1p53);
  }
  return some;
}

bool is_missing(const Labels& labels, size_t row) { return !labels.missing.empty() && labels.missing[row] != 0; }

// Returns a sentence about the first two names that differ only in case or in blanks, or "".
std::string alike(const std::vector<std::string>& names, const std::string& the, const std::string& of,
                  const std::string& one) {
  std::unordered_map<std::string, const std::string*> seen;
  for (const std::string& name : names) {
    std::string key;
    for (const char c : name)
      if (c != ' ' && c != '\t') key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto [other, first] = seen.emplace(key, &name);
    if (!first)
      return the + quoted(*other->second) + " and " + quoted(name) + of +
             " differ only in case or blanks; if they are one " + one + ", write them alike";
  }
  return "";
}

void apply_targets(const std::string& path, const Labels& labels, Unknown unknown, Table& table) {
  table.targets.resize(static_cast<size_t>(table.rows));
  for (size_t i = 0; i < table.targets.size(); ++i) {
    if (unknown == Unknown::keep && is_missing(labels, i)) {
      table.targets[i] = std::numeric_limits<float>::quiet_NaN();
      continue;
    }
    double value = 0;
    const bool number = labels.values.empty() ? parse_number(labels.texts[i], value) : true;
    if (!labels.values.empty()) value = labels.values[i];
    const auto target = static_cast<float>(value);
    if (!number || is_missing(labels, i) || !std::isfinite(target))
      bad_data(path, labels.place(i),
               "the target is " + quoted(text_of(labels, i)) + ", not a number within float32; correct the row");
    table.targets[i] = target;
  }
}

}  // namespace

std::string Labels::place(size_t row) const {
  return lines.empty() ? "row " + std::to_string(row + 1) : "line " + std::to_string(lines[row]);
}

bool parse_number(std::string_view text, double& value) {
  std::errc code{};
  return parse_all(without_plus(text), value, code) && code == std::errc{} && std::isfinite(value);
}

bool parse_number(std::string_view text, float& value) {
  std::errc code{};
  text = without_plus(text);
  if (!parse_all(text, value, code)) return false;
  if (code == std::errc{}) return std::isfinite(value);
  double wide = 0;
  if (!parse_number(text, wide) || std::abs(wide) >= 1) return false;
  value = static_cast<float>(wide);
  return true;
}

namespace {

LabelMap one_class_map(const Labels& labels, const std::string& path) {
  for (size_t row = 0; row < labels.size(); ++row) {
    double value = 0;
    const bool number = labels.values.empty() ? parse_number(labels.texts[row], value) : true;
    if (!labels.values.empty()) value = labels.values[row];
    if (!is_missing(labels, row) && (!number || (value != 1 && value != -1)))
      bad_data(path, labels.place(row),
               "the label " + quoted(text_of(labels, row)) +
                   " is neither 1, for a row to accept, nor -1, for one to reject: data.task is "
                   "\"one_class\", which needs these two labels");
  }
  return {false, true, {"-1", "1"}};
}

}  // namespace

LabelMap learn_labels(const Labels& labels, const std::string& path, const std::string& task) {
  if (task == kOneClass) return one_class_map(labels, path);
  LabelMap map;
  if (labels.values.empty()) {
    if (task == "regression")
      bad_data(path, "", "holds words as targets, which no regression predicts; choose another target or data.task");
    map.class_names = labels.texts;
    sort_unique(map.class_names);
    return map;
  }
  if (task != "regression" && has_long_numbers(labels)) {
    if (labels.texts.empty())
      bad_data(path, "",
               "holds whole numbers from 2^53 on as targets, which a double cannot tell apart; number the "
               "classes from 0, or set data.task to \"regression\"");
    map.class_names = labels.texts;
    sort_unique(map.class_names);
    if (map.class_names.size() <= kMostNumericClasses || task == "classification") return map;
    map.class_names.clear();
  }
  std::vector<double> distinct = labels.values;
  sort_unique(distinct);
  const bool all_whole = std::all_of(distinct.begin(), distinct.end(), whole);
  map.regression = task.empty() ? distinct.size() > kMostNumericClasses || !all_whole : task == "regression";
  map.numeric = !map.regression && all_whole;
  if (map.regression) return map;
  if (!map.numeric && !labels.texts.empty()) {
    map.class_names = labels.texts;
    sort_unique(map.class_names);
    return map;
  }
  for (const double value : distinct)
    map.class_names.push_back(map.numeric ? whole_text(value) : base::shortest(value));
  return map;
}

std::string classes_alike(const std::vector<std::string>& class_names) {
  return alike(class_names, "the classes ", "", "class");
}

std::string levels_alike(const Column& column) {
  return alike(column.levels, "the values ", " of column " + quoted(column.name), "value");
}

LabelMap label_map(const std::vector<std::string>& class_names) {
  LabelMap map;
  map.class_names = class_names;
  map.regression = class_names.empty();
  map.numeric = !map.regression && std::all_of(class_names.begin(), class_names.end(), [](const std::string& name) {
    double value = 0;
    return parse_number(name, value) && whole(value) && whole_text(value) == name;
  });
  return map;
}

void apply_labels(const LabelMap& map, const std::string& path, const Labels& labels, Unknown unknown, Table& table) {
  if (map.regression) return apply_targets(path, labels, unknown, table);
  std::unordered_map<std::string, int32_t> classes;
  for (const std::string& name : map.class_names) classes.emplace(name, static_cast<int32_t>(classes.size()));
  table.labels.assign(static_cast<size_t>(table.rows), -1);
  for (size_t i = 0; i < table.labels.size(); ++i) {
    if (is_missing(labels, i)) {
      table.labels[i] = kNoLabel;
      continue;
    }
    double value = 0;
    const bool number = labels.values.empty() ? parse_number(labels.texts[i], value) : true;
    if (!labels.values.empty()) value = labels.values[i];
    const auto found = classes.find(map.numeric && number && whole(value) ? whole_text(value) : text_of(labels, i));
    if (found != classes.end()) {
      table.labels[i] = found->second;
    } else if (unknown == Unknown::error) {
      bad_data(path, labels.place(i),
               "the label " + quoted(text_of(labels, i)) +
                   " does not occur in the training set; remove the row or add such rows to the training set");
    }
  }
}

}  // namespace mokume::data
