#include "data/csv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/text.hpp"
#include "data/csv_rows.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

constexpr float kNoValue = std::numeric_limits<float>::quiet_NaN();

// A column of the file that provides features.
struct Source {
  std::string name;
  size_t place = 0;  // in the header
  bool categorical = false;
  std::unordered_map<std::string, int32_t> seen;  // categorical: levels numbered by first appearance
};

class Reader {
 public:
  Reader(const std::string& path, const CsvOptions& options) : path_(path), options_(options) {}

  CsvTable read() {
    const std::string text = read_text(path_);
    CsvRows rows(path_, text);
    std::vector<std::string_view> cells;
    if (!rows.next(cells)) bad_data(path_, "", "is empty; it needs a header row and data");
    read_header(rows, cells);
    while (rows.next(cells)) read_row(rows.line(), cells);
    if (count_ == 0) bad_data(path_, "", "has no usable rows; add rows or change data.missing");
    if (!numeric_labels_) part_.labels.values.clear();
    return finish();
  }

 private:
  static std::string names(const std::vector<std::string>& list) {
    constexpr size_t kMost = 12;
    std::string text;
    for (size_t i = 0; i < std::min(kMost, list.size()); ++i) text += (i == 0 ? "" : ", ") + quoted(list[i]);
    return text + (list.size() > kMost ? ", ..." : "");
  }

  [[noreturn]] void no_column(const std::string& name, const std::string& why) const {
    const std::string near = base::closest(name, header_);
    bad_data(path_, "line " + std::to_string(header_line_),
             "has no column " + quoted(name) + why + "; " +
                 (near.empty() ? "there are " + names(header_) : "did you mean " + quoted(near) + "?"));
  }

  void read_header(const CsvRows& rows, const std::vector<std::string_view>& cells) {
    header_line_ = rows.line();
    for (const std::string_view cell : cells) {
      if (cell.empty())
        bad_data(path_, "line " + std::to_string(header_line_),
                 "column " + std::to_string(header_.size() + 1) + " has no name; the first row must name all columns");
      if (!place_of_.emplace(cell, header_.size()).second)
        bad_data(path_, "line " + std::to_string(header_line_),
                 "two columns are named " + quoted(cell) + "; rename one");
      header_.emplace_back(cell);
    }
    choose_target();
    if (options_.columns != nullptr) {
      match_columns();
    } else {
      choose_columns();
    }
  }

  void choose_target() {
    part_.target = options_.target;
    if (part_.target.empty()) {
      part_.target = header_.back();
      const auto is_last = [&](const Column& column) { return column.name == part_.target; };
      if (options_.columns != nullptr && !options_.target_required &&
          std::any_of(options_.columns->begin(), options_.columns->end(), is_last))
        return;  // rows to predict, without a target
    }
    const auto found = place_of_.find(part_.target);
    if (found != place_of_.end()) {
      target_ = found->second;
    } else if (options_.target_required) {
      no_column(part_.target, " for data.target");
    }
  }

  void choose_columns() {
    for (const std::string& name : options_.categorical) {
      if (place_of_.count(name) == 0) no_column(name, " for data.categorical");
      if (target_ < header_.size() && name == part_.target)
        bad_data(path_, "", "the target " + quoted(name) + " is listed in data.categorical; remove it there");
    }
    const auto& list = options_.categorical;
    for (size_t place = 0; place < header_.size(); ++place) {
      if (place == target_) continue;
      Source& source = columns_.emplace_back();
      source.name = header_[place];
      source.place = place;
      source.categorical = std::find(list.begin(), list.end(), source.name) != list.end();
    }
    if (columns_.empty())
      bad_data(path_, "line " + std::to_string(header_line_), "has only the target column; add features");
  }

  // Matches the columns to those of the training file, whatever their order here. A column without levels is numeric.
  void match_columns() {
    for (const Column& column : *options_.columns) {
      const auto found = place_of_.find(column.name);
      if (found == place_of_.end()) no_column(column.name, ", which the training file has");
      Source& source = columns_.emplace_back();
      source.name = column.name;
      source.place = found->second;
      source.categorical = !column.levels.empty();
      for (const std::string& level : column.levels)
        source.seen.emplace(level, static_cast<int32_t>(source.seen.size()));
    }
    const size_t known = columns_.size() + (target_ < header_.size() ? 1 : 0);
    if (header_.size() == known) return;
    for (size_t place = 0; place < header_.size(); ++place) {
      const auto same = [&](const Source& source) { return source.place == place; };
      if (place != target_ && std::none_of(columns_.begin(), columns_.end(), same))
        bad_data(path_, "line " + std::to_string(header_line_),
                 "column " + quoted(header_[place]) + " is not in the training file; remove it");
    }
  }

  [[noreturn]] void bad_cell(int64_t line, const std::string& column, const std::string& what) const {
    bad_data(path_, "line " + std::to_string(line) + ", column " + quoted(column), what);
  }

  void read_row(int64_t line, const std::vector<std::string_view>& cells) {
    if (cells.size() != header_.size())
      bad_data(path_, "line " + std::to_string(line),
               "has " + std::to_string(cells.size()) + " cells, but the header has " + std::to_string(header_.size()) +
                   "; put cells that contain commas in quotes");
    const bool drop = options_.missing == Missing::drop;
    const auto needed = [&](size_t place) { return drop && cells[place].empty(); };
    if (options_.target_required && target_ < header_.size() && needed(target_)) return;
    for (const Source& column : columns_)
      if (needed(column.place)) return;
    const bool keep = options_.limit == 0 || count_ < options_.limit;
    for (Source& column : columns_) read_cell(line, cells[column.place], keep, column);
    if (target_ < header_.size()) read_label(cells[target_], line);
    ++count_;
    if (keep) ++kept_;
  }

  void read_cell(int64_t line, std::string_view cell, bool keep, Source& column) {
    if (cell.empty() && (options_.missing != Missing::mean || column.categorical))
      bad_cell(line, column.name,
               options_.missing == Missing::mean
                   ? "the cell is empty, and a mean cannot fill a categorical column; use data.missing = \"drop\""
                   : "the cell is empty; set data.missing to \"drop\" or \"mean\"");
    if (column.categorical) {
      auto found = column.seen.find(std::string(cell));
      if (found == column.seen.end()) {
        if (options_.columns != nullptr)
          bad_cell(line, column.name,
                   "the level " + quoted(cell) + " does not occur in the training file; remove the row");
        found = column.seen.emplace(cell, static_cast<int32_t>(column.seen.size())).first;
      }
      if (keep) ids_.push_back(found->second);
      return;
    }
    float value = kNoValue;
    if (!cell.empty() && !parse_number(cell, value))
      bad_cell(line, column.name,
               "found " + quoted(cell) +
                   ", not a finite float32 number; correct it, leave it empty, or list the column in data.categorical");
    if (keep) numbers_.push_back(value);
  }

  void read_label(std::string_view cell, int64_t line) {
    Labels& labels = part_.labels;
    if (cell.empty() && options_.target_required)
      bad_cell(line, part_.target, "the target is empty; remove the row or set data.missing to \"drop\"");
    double value = 0;
    if (!cell.empty() && numeric_labels_) numeric_labels_ = parse_number(cell, value);
    labels.values.push_back(value);
    labels.texts.emplace_back(cell);
    labels.lines.push_back(line);
    labels.missing.push_back(cell.empty() ? 1 : 0);
  }

  // Returns the given columns, or those of this file: levels sorted, numeric columns with their mean.
  std::vector<Column> encoding() const {
    if (options_.columns != nullptr) return *options_.columns;
    std::vector<Column> result;
    size_t numeric = 0;
    for (const Source& source : columns_) {
      Column& column = result.emplace_back();
      column.name = source.name;
      for (const auto& [level, id] : source.seen) column.levels.push_back(level);
      std::sort(column.levels.begin(), column.levels.end());
      if (source.categorical) continue;
      column.fill = mean(source.name, numeric);  // needed even if none is missing: rows to predict may have gaps
      ++numeric;
    }
    return result;
  }

  double mean(const std::string& name, size_t numeric) const {
    const size_t step = numbers_.size() / static_cast<size_t>(kept_);
    double sum = 0;
    size_t count = 0;
    for (size_t i = numeric; i < numbers_.size(); i += step) {
      if (std::isnan(numbers_[i])) continue;
      sum += double{numbers_[i]};
      ++count;
    }
    if (count == 0) bad_data(path_, "", "column " + quoted(name) + " has no values; remove it");
    return sum / static_cast<double>(count);
  }

  CsvTable finish() {
    part_.columns = encoding();
    Table& table = part_.table;
    table.rows = kept_;
    for (const Column& column : part_.columns)
      table.features += column.levels.empty() ? 1 : static_cast<int64_t>(column.levels.size());
    if (table.features > kMaxFeatures)
      bad_data(path_, "", "gives more than " + std::to_string(kMaxFeatures) + " features; shorten data.categorical");
    table.x.assign(checked_count(path_, table.rows, table.features), 0.0F);
    encode();
    part_.path = path_;
    return std::move(part_);
  }

  void encode() {
    std::vector<std::vector<size_t>> ranks(columns_.size());  // per level as numbered in `seen`: its one-hot feature
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::vector<std::string>& levels = part_.columns[c].levels;
      ranks[c].resize(columns_[c].seen.size());
      for (size_t i = 0; i < levels.size(); ++i) ranks[c][static_cast<size_t>(columns_[c].seen.at(levels[i]))] = i;
    }
    auto number = numbers_.begin();
    auto id = ids_.begin();
    float* to = part_.table.x.data();
    for (int64_t row = 0; row < kept_; ++row)
      for (size_t c = 0; c < columns_.size(); ++c) {
        if (columns_[c].categorical) {
          to[ranks[c][static_cast<size_t>(*id++)]] = 1;
          to += part_.columns[c].levels.size();
        } else {
          const float value = *number++;
          *to++ = std::isnan(value) ? static_cast<float>(part_.columns[c].fill) : value;
        }
      }
  }

  const std::string& path_;
  const CsvOptions& options_;
  std::vector<std::string> header_;
  std::unordered_map<std::string, size_t> place_of_;
  int64_t header_line_ = 0;
  size_t target_ = std::numeric_limits<size_t>::max();
  std::vector<Source> columns_;
  std::vector<float> numbers_;  // numeric cells of the kept rows, row by row; kNoValue: empty
  std::vector<int32_t> ids_;    // categorical cells of the kept rows, row by row, as numbered in `seen`
  int64_t count_ = 0;           // rows that were not dropped
  int64_t kept_ = 0;            // those within the limit
  bool numeric_labels_ = true;
  CsvTable part_;
};

}  // namespace

CsvTable read_csv(const std::string& path, const CsvOptions& options) { return Reader(path, options).read(); }

}  // namespace mokume::data
