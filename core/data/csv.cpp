#include "data/csv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/plural.hpp"
#include "base/text.hpp"
#include "data/arff.hpp"
#include "data/csv_format.hpp"
#include "data/csv_rows.hpp"
#include "data/csv_words.hpp"
#include "data/input.hpp"
#include "data/precision.hpp"

namespace mokume::data {
namespace {

constexpr int64_t kFewestRows = 10;  // fewer rows may count up by coincidence
constexpr int32_t kMissingLevel = -1, kUnknownLevel = -2;
constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// Holds a column of the file that provides features.
struct Source {
  std::string name;
  size_t place = 0;  // position in the header
  bool categorical = false;
  bool has_mode = true;                           // categorical: whether a missing cell can be filled
  std::unordered_map<std::string, int32_t> seen;  // categorical: index of each level
  std::vector<int64_t> count;                     // categorical: number of kept rows with each level, by index
  StrangeCells strange = {};
  StrangeCells far = {};     // numeric: cells of other rows that lie far outside the range of the training rows
  bool counts_rows = true;   // numeric: each value is that of the row before plus 1
  double last = kNoValue;    // numeric: value of the row before
  double low = 0, high = 0;  // numeric: range of the training rows, or 0 and 0
  bool left_out = false;     // it has no name, and names or counts the rows

  bool is_far(double value) const {
    const double range = high - low;
    return range > 0 && (value < low - range || value > high + range);
  }

  // `step` is 1, plus the number of rows that were dropped since the last one.
  void compare(double value, bool first_row, double step) {
    counts_rows = counts_rows && (first_row || value == last + step);
    last = value;
  }
};

class Reader {
 public:
  Reader(const std::string& path, const CsvOptions& options)
      : path_(path), options_(options), categorical_(options.categorical) {}

  CsvTable read() {
    const std::string whole = options_.piece == nullptr ? read_text(path_) : "";
    const std::string_view text = options_.piece == nullptr ? whole : options_.piece->text;
    check_utf8(path_, text, options_.piece == nullptr ? 0 : options_.piece->more_lines);
    if (is_arff(text)) {
      const ArffText arff = arff_to_csv(path_, text);
      part_.notes.push_back(shown_path(path_) + ": is ARFF, whose nominal attributes are categorical");
      const std::string target = options_.target.empty() ? arff.last : options_.target;
      for (const std::string& name : arff.nominal)
        if (name != target) categorical_.push_back(name);
      return read(arff.csv);
    }
    format_ = detect_csv(path_, text, expected_of(options_));
    if (options_.piece != nullptr) {
      const bool decimal_comma = format_.decimal_comma || options_.piece->format.decimal_comma;
      format_ = options_.piece->format;
      format_.decimal_comma = decimal_comma;
    }
    return read(text);
  }

 private:
  CsvTable read(std::string_view text) {
    if (const std::string how = to_text(format_); !how.empty()) part_.notes.push_back(shown_path(path_) + ": " + how);
    CsvRows rows(path_, text, format_);
    std::vector<std::string_view> cells;
    if (!rows.next(cells)) bad_data(path_, "", "is empty; it needs a header row and data");
    read_header(rows, cells);
    const int64_t more = options_.piece == nullptr ? 0 : options_.piece->more_lines;
    if (!format_.header) read_row(rows.line() + more, cells);
    rows.add_lines(more);
    while (rows.next(cells)) read_row(rows.line(), cells);
    refuse_words();
    leave_out_nameless();
    if (count_ == 0) bad_data(path_, "", "has no rows that can be used; add rows or change data.missing");
    if (!numeric_labels_) part_.labels.values.clear();
    refuse_thousands();
    if (without_target_ > 0)
      part_.notes.push_back(shown_path(path_) + ": " + base::counted(static_cast<uint64_t>(without_target_), "row") +
                            " without a value of " + quoted(part_.target) + " left out");
    return finish();
  }

  [[noreturn]] void no_column(const std::string& name, const std::string& why) const {
    const std::string near = base::closest(name, header_);
    bad_data(path_, "line " + std::to_string(header_line_),
             "has no column " + quoted(name) + why + "; " +
                 (near.empty() ? "there are " + names(header_) : "did you mean " + quoted(near) + "?"));
  }

  void read_header(const CsvRows& rows, const std::vector<std::string_view>& cells) {
    header_line_ = rows.line();
    if (format_.row_names) header_.emplace_back("column 1");
    for (const std::string_view cell : cells) {
      const bool named = format_.header && !cell.empty();
      header_.push_back(named ? std::string(cell) : "column " + std::to_string(header_.size() + 1));
      if (!place_of_.emplace(header_.back(), header_.size() - 1).second)
        bad_data(path_, "line " + std::to_string(header_line_),
                 "two columns are named " + quoted(header_.back()) + "; rename one");
    }
    for (const std::string& name : options_.copy) {
      if (place_of_.count(name) == 0) no_column(name, " to copy");
      copies_.push_back(place_of_.at(name));
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
        return;  // rows to predict may lack the target
    }
    const auto found = place_of_.find(part_.target);
    if (found != place_of_.end()) {
      target_ = found->second;
    } else if (options_.target_required) {
      no_column(part_.target, " for data.target");
    }
  }

  void choose_columns() {
    for (const std::string& name : categorical_) {
      if (place_of_.count(name) == 0) no_column(name, " for data.categorical");
      if (target_ < header_.size() && name == part_.target)
        bad_data(path_, "", "the target " + quoted(name) + " is listed in data.categorical; remove it there");
    }
    for (const std::string& name : options_.ignore) {
      if (place_of_.count(name) == 0) no_column(name, " for data.ignore");
      if (target_ < header_.size() && name == part_.target)
        bad_data(path_, "", "the target " + quoted(name) + " is listed in data.ignore; remove it there");
    }
    if (!options_.group.empty()) {
      if (place_of_.count(options_.group) == 0) no_column(options_.group, " for validation.group");
      group_ = place_of_.at(options_.group);
      if (group_ == target_)
        bad_data(path_, "", "the target " + quoted(options_.group) + " is named in validation.group; name another");
    }
    choose_weight();
    const auto& list = categorical_;
    for (size_t place = 0; place < header_.size(); ++place) {
      if (place == target_ || is_ignored(header_[place])) continue;
      Source& source = columns_.emplace_back();
      source.name = header_[place];
      source.place = place;
      source.categorical = std::find(list.begin(), list.end(), source.name) != list.end();
    }
    if (columns_.empty())
      bad_data(path_, "line " + std::to_string(header_line_), "has only the target column; add features");
  }

  void choose_weight() {
    if (options_.weight.empty()) return;
    if (place_of_.count(options_.weight) == 0) no_column(options_.weight, " for data.weight");
    weight_ = place_of_.at(options_.weight);
    if (weight_ == target_)
      bad_data(path_, "", "the target " + quoted(options_.weight) + " is named in data.weight; name another");
    const auto& list = categorical_;
    if (std::find(list.begin(), list.end(), options_.weight) != list.end())
      bad_data(path_, "", "the column " + quoted(options_.weight) + " of data.weight is listed in data.categorical");
  }

  // Returns whether the header gives the column no name, as tools do that write the index of a table.
  bool is_nameless(size_t place) const {
    const std::string& name = header_[place];
    return format_.header && (name == "column " + std::to_string(place + 1) || name.starts_with("Unnamed: "));
  }

  // Leaves out nameless columns that name or count the rows, from which a model would learn the order of the file.
  void leave_out_nameless() {
    if (options_.columns != nullptr) return;
    size_t left = columns_.size();
    for (Source& source : columns_) {
      const bool counts = !source.categorical && source.counts_rows && count_ >= kFewestRows;
      const bool name = format_.row_names && source.place == 0;
      source.left_out = left > 1 && is_nameless(source.place) && (counts || name);
      if (!source.left_out) continue;
      --left;
      if (!name)
        part_.notes.push_back(shown_path(path_) + ": column " + quoted(source.name) +
                              " has no name and numbers the rows, so it is no feature");
    }
  }

  bool is_ignored(const std::string& name) const {
    return (!options_.group.empty() && name == options_.group) ||
           (!options_.weight.empty() && name == options_.weight) ||
           std::find(options_.ignore.begin(), options_.ignore.end(), name) != options_.ignore.end();
  }

  // Maps the training file's columns, in its order, to the columns of this file. A column without levels is numeric.
  void match_columns() {
    for (const Column& column : *options_.columns) {
      const auto found = place_of_.find(column.name);
      if (found == place_of_.end()) no_column(column.name, ", which the training file has");
      Source& source = columns_.emplace_back();
      source.name = column.name;
      source.place = found->second;
      source.categorical = !column.levels.empty();
      source.has_mode = !column.mode.empty();
      source.low = column.low;
      source.high = column.high;
      for (const std::string& level : column.levels)
        source.seen.emplace(level, static_cast<int32_t>(source.seen.size()));
      source.count.resize(source.seen.size(), 0);
    }
    std::vector<char> used(header_.size(), 0);
    for (const Source& source : columns_) used[source.place] = 1;
    std::vector<std::string> others;
    for (size_t place = 0; place < header_.size(); ++place)
      if (place != target_ && used[place] == 0 && !is_ignored(header_[place]) && !is_nameless(place))
        others.push_back(header_[place]);
    if (!others.empty())
      part_.notes.push_back(shown_path(path_) + ": the training file lacks " + names(others) +
                            (others.size() == 1 ? ", which is not used" : ", which are not used"));
  }

  [[noreturn]] void bad_cell(int64_t line, const std::string& column, const std::string& what) const {
    bad_data(path_, "line " + std::to_string(line) + ", column " + quoted(column), what);
  }

  void read_row(int64_t line, const std::vector<std::string_view>& cells) {
    if (cells.size() != header_.size())
      bad_data(path_, "line " + std::to_string(line),
               "has " + std::to_string(cells.size()) + " cells, but the header has " + std::to_string(header_.size()) +
                   "; put cells that contain " + (format_.delimiter == ',' ? "commas" : "delimiters") + " in quotes");
    // A missing target cannot be filled.
    const bool without_target = options_.missing == Missing::mean && lacks_a_target(cells);
    if (without_target && (options_.limit == 0 || count_ < options_.limit)) ++without_target_;
    if (without_target || (options_.missing == Missing::drop && lacks_a_cell(cells))) {
      ++dropped_;
      return;
    }
    const bool keep = options_.limit == 0 || count_ < options_.limit;
    for (Source& column : columns_) read_cell(line, cells[column.place], keep, column);
    if (group_ < header_.size() && keep) read_group(cells[group_], line);
    if (weight_ < header_.size()) read_weight(cells[weight_], line, keep);
    if (target_ < header_.size()) read_label(cells[target_], line);
    ++count_;
    dropped_ = 0;
    if (!keep) return;
    ++kept_;
    for (const size_t place : copies_) part_.copied.emplace_back(cells[place]);
  }

  bool lacks_a_target(const std::vector<std::string_view>& cells) const {
    return options_.target_required && target_ < cells.size() && is_missing_cell(cells[target_]);
  }

  bool lacks_a_cell(const std::vector<std::string_view>& cells) const {
    const auto missing = [&](size_t place) { return place < cells.size() && is_missing_cell(cells[place]); };
    return lacks_a_target(cells) || missing(group_) || missing(weight_) ||
           std::any_of(columns_.begin(), columns_.end(), [&](const Source& column) { return missing(column.place); });
  }

  void read_cell(int64_t line, std::string_view cell, bool keep, Source& column) {
    const bool missing = is_missing_cell(cell);
    if (missing && options_.missing != Missing::mean)
      bad_cell(
          line, column.name,
          (cell.empty() ? "the cell is empty" : "the cell is " + quoted(cell) + ", which means that it is missing") +
              "; set data.missing to \"drop\" or \"mean\"");
    if (missing && column.categorical && !column.has_mode)
      bad_cell(
          line, column.name,
          "the cell is empty, and the run is of an older version that did not record the most frequent value; fill "
          "it in, or set data.missing to \"drop\"");
    if (column.categorical) {
      const int32_t level = missing ? kMissingLevel : level_of(line, cell, column);
      if (!keep) return;
      ids_.push_back(level);
      if (level >= 0) ++column.count[static_cast<size_t>(level)];
      return;
    }
    double value = kNoValue;
    if (!missing && (!parse_number(format_, cell, value) || !std::isfinite(static_cast<float>(value)))) {
      if (options_.columns != nullptr)
        bad_cell(line, column.name,
                 "found " + quoted(cell) +
                     (may_hold_thousands(cell)
                          ? ", which may be " + both_readings(cell) + "; write it without a comma, or with a point"
                          : ", not a finite float32 number; correct it or remove the row"));
      if (!names_rows(column)) column.strange.add(cell, line);
      value = kNoValue;
    }
    column.compare(value, count_ == 0, 1 + static_cast<double>(dropped_));
    if (column.is_far(value)) column.far.add(cell, line);
    if (keep) numbers_.push_back(value);
  }

  bool names_rows(const Source& column) const {
    return options_.columns == nullptr && format_.row_names && column.place == 0;
  }

  void read_group(std::string_view cell, int64_t line) {
    if (is_missing_cell(cell))
      bad_cell(line, options_.group, "the group of the row is missing; fill it in, or remove the row");
    const auto id = static_cast<uint32_t>(groups_.size());
    part_.table.groups.push_back(groups_.emplace(cell, id).first->second);
  }

  void read_weight(std::string_view cell, int64_t line, bool keep) {
    float weight = -1;
    if (is_missing_cell(cell))
      bad_cell(line, options_.weight, "the weight of the row is missing; fill it in, or remove the row");
    if (!parse_number(format_, cell, weight) || weight < 0)
      bad_cell(line, options_.weight, "found " + quoted(cell) + ", but a weight is a number from 0 up");
    if (keep) part_.table.weights.push_back(weight);
  }

  int32_t level_of(int64_t line, std::string_view cell, Source& column) {
    auto found = column.seen.find(std::string(cell));
    if (found == column.seen.end()) {
      if (options_.columns != nullptr) {
        column.strange.add(cell, line);
        return kUnknownLevel;
      }
      found = column.seen.emplace(cell, static_cast<int32_t>(column.seen.size())).first;
    }
    column.count.resize(column.seen.size(), 0);
    return found->second;
  }

  // Refuses numbers as targets that would become classes, because their commas separate thousands or fractions.
  void refuse_thousands() const {
    const std::vector<std::string>& texts = part_.labels.texts;
    const auto number = [](const std::string& text) {
      double value = 0;
      return may_hold_thousands(text) || parse_number(text, value);
    };
    if (numeric_labels_ || !std::all_of(texts.begin(), texts.end(), number)) return;
    const auto first = std::find_if(texts.begin(), texts.end(), may_hold_thousands);
    if (first == texts.end()) return;
    bad_cell(part_.labels.lines[static_cast<size_t>(first - texts.begin())], part_.target,
             "found " + quoted(*first) + ", which may be " + both_readings(*first) +
                 "; write the numbers without commas between thousands, or with a point before the fraction");
  }

  // Throws an error that names the columns with words where numbers are needed.
  void refuse_words() const {
    std::vector<StrangeCells> strange;
    for (const Source& column : columns_)
      if (!column.categorical && column.strange.count > 0) {
        strange.push_back(column.strange);
        strange.back().column = column.name;
      }
    if (const std::string found = words_and_cures(strange, count_); !found.empty()) bad_data(path_, "", found);
  }

  void read_label(std::string_view cell, int64_t line) {
    const bool missing = is_missing_cell(cell);
    Labels& labels = part_.labels;
    if (missing && options_.target_required)
      bad_cell(line, part_.target,
               "the target is empty; remove the row, or set data.missing to \"drop\" or \"mean\", which leave it out");
    double value = 0;
    if (!missing && numeric_labels_) numeric_labels_ = parse_number(format_, cell, value);
    labels.values.push_back(value);
    labels.texts.emplace_back(missing ? "" : cell);
    labels.lines.push_back(line);
    labels.missing.push_back(missing ? 1 : 0);
  }

  // Returns the encoding of the training file, or derives it from this file: sorted levels, and the means of numbers.
  std::vector<Column> encoding() {
    if (options_.columns != nullptr) return *options_.columns;
    std::vector<Column> result;
    size_t numeric = 0;
    for (const Source& source : columns_) {
      if (source.left_out) {
        numeric += source.categorical ? 0 : 1;
        continue;
      }
      Column& column = result.emplace_back();
      column.name = source.name;
      for (const auto& [level, id] : source.seen) column.levels.push_back(level);
      std::sort(column.levels.begin(), column.levels.end());
      if (source.categorical) {
        column.mode = mode(source, column.levels);
        continue;
      }
      set_range(numeric, column);
      column.decimal_comma = format_.decimal_comma;
      column.fill = mean(source, numeric);  // needed even without gaps, because rows to predict may have some
      ++numeric;
    }
    return result;
  }

  // Returns the most frequent level, or the first of several that are equally frequent.
  std::string mode(const Source& source, const std::vector<std::string>& levels) const {
    const auto count = [&](const std::string& level) {
      return source.count[static_cast<size_t>(source.seen.at(level))];
    };
    if (levels.empty()) bad_data(path_, "", "column " + quoted(source.name) + " is all empty; remove it");
    return *std::max_element(levels.begin(), levels.end(),
                             [&](const std::string& a, const std::string& b) { return count(a) < count(b); });
  }

  void set_range(size_t numeric, Column& column) const {
    const size_t step = numbers_.size() / static_cast<size_t>(kept_);
    column.low = std::numeric_limits<double>::infinity();
    column.high = -column.low;
    for (size_t i = numeric; i < numbers_.size(); i += step) {
      column.low = std::fmin(column.low, numbers_[i]);  // fmin() and fmax() skip missing cells
      column.high = std::fmax(column.high, numbers_[i]);
    }
  }

  double mean(const Source& source, size_t numeric) {
    const size_t step = numbers_.size() / static_cast<size_t>(kept_);
    double sum = 0;
    size_t count = 0;
    for (size_t i = numeric; i < numbers_.size(); i += step) {
      if (std::isnan(numbers_[i])) continue;
      sum += numbers_[i];
      ++count;
    }
    if (count == 0) bad_data(path_, "", "column " + quoted(source.name) + " is all empty; remove it");
    if (source.counts_rows && count_ >= kFewestRows)
      part_.notes.push_back(shown_path(path_) + ": column " + quoted(source.name) +
                            " numbers the rows; if it is no feature, list it in data.ignore");
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
    const size_t each = sizeof(float) + (options_.exact ? sizeof(double) : 0);
    table.x.assign(checked_count(path_, table.rows, table.features, each), 0.0F);
    if (options_.exact) table.exact.assign(table.x.size(), 0.0);
    encode();
    drop_exact_if_equal(table);
    note_unknown_levels();
    note_far_values();
    part_.path = path_;
    return std::move(part_);
  }

  void note_unknown_levels() {
    for (const Source& column : columns_)
      if (column.categorical && column.strange.count > 0)
        part_.notes.push_back(
            shown_path(path_) + ": column " + quoted(column.name) + " holds levels that the training file lacks (" +
            std::to_string(column.strange.count) + " cells, the first " + quoted(column.strange.first) + " in line " +
            std::to_string(column.strange.first_line) + "); for these rows, all features of the column are 0");
  }

  void note_far_values() {
    for (const Source& column : columns_)
      if (column.far.count > 0)
        part_.notes.push_back(shown_path(path_) + ": column " + quoted(column.name) + " has " +
                              std::to_string(column.far.count) + (column.far.count == 1 ? " value" : " values") +
                              " far outside the training rows, which run from " + base::shortest(column.low) + " to " +
                              base::shortest(column.high) + " (the first, " + quoted(column.far.first) + ", in line " +
                              std::to_string(column.far.first_line) + "); the model has not seen such values");
  }

  // Returns the position in part_.columns of each column that is not left out.
  std::vector<size_t> encoded() const {
    std::vector<size_t> places(columns_.size(), 0);
    for (size_t c = 1; c < places.size(); ++c) places[c] = places[c - 1] + (columns_[c - 1].left_out ? 0 : 1);
    return places;
  }

  void encode() {
    const std::vector<size_t> place = encoded();
    std::vector<std::vector<size_t>> ranks(columns_.size());  // one-hot feature of each level, indexed as in `seen`
    std::vector<int32_t> modes(columns_.size(), kUnknownLevel);
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].left_out) continue;
      const Column& column = part_.columns[place[c]];
      ranks[c].resize(columns_[c].seen.size());
      for (size_t i = 0; i < column.levels.size(); ++i)
        ranks[c][static_cast<size_t>(columns_[c].seen.at(column.levels[i]))] = i;
      if (!column.mode.empty()) modes[c] = columns_[c].seen.at(column.mode);
    }
    auto number = numbers_.begin();
    auto id = ids_.begin();
    size_t to = 0;
    for (int64_t row = 0; row < kept_; ++row)
      for (size_t c = 0; c < columns_.size(); ++c) {
        const auto note_gap = [&] {
          part_.gaps.push_back({static_cast<uint32_t>(row), static_cast<uint32_t>(place[c])});
        };
        if (columns_[c].left_out) {
          columns_[c].categorical ? void(++id) : void(++number);
        } else if (columns_[c].categorical) {
          if (*id == kMissingLevel) note_gap();
          const int32_t level = *id == kMissingLevel ? modes[c] : *id;
          ++id;
          if (level >= 0) part_.table.set(to + ranks[c][static_cast<size_t>(level)], 1);
          to += part_.columns[place[c]].levels.size();
        } else {
          const double value = *number++;
          if (std::isnan(value)) note_gap();
          part_.table.set(to++, std::isnan(value) ? part_.columns[place[c]].fill : value);
        }
      }
  }

  const std::string& path_;
  const CsvOptions& options_;
  std::vector<std::string> categorical_;  // options_.categorical, and what the file itself declares
  CsvFormat format_;
  std::vector<std::string> header_;
  std::unordered_map<std::string, size_t> place_of_;
  int64_t header_line_ = 0;
  std::vector<size_t> copies_;  // header positions of the columns in options_.copy
  size_t target_ = std::numeric_limits<size_t>::max();
  size_t group_ = std::numeric_limits<size_t>::max();
  size_t weight_ = std::numeric_limits<size_t>::max();
  std::unordered_map<std::string, uint32_t> groups_;  // numbers of the groups, by first appearance
  std::vector<Source> columns_;
  std::vector<double> numbers_;  // numeric cells of the kept rows, row by row; kNoValue if missing
  std::vector<int32_t> ids_;     // categorical cells of the kept rows, row by row, as numbered in `seen`
  int64_t count_ = 0;            // rows read, except dropped ones
  int64_t dropped_ = 0;          // rows dropped since the last one that was read
  int64_t without_target_ = 0;   // rows within the limit that were dropped for their target alone
  int64_t kept_ = 0;             // rows within the limit
  bool numeric_labels_ = true;
  CsvTable part_;
};

}  // namespace

CsvExpected expected_of(const CsvOptions& options) {
  CsvExpected expected;
  expected.names.insert(options.categorical.begin(), options.categorical.end());
  expected.names.insert(options.ignore.begin(), options.ignore.end());
  for (const std::string& name : {options.target, options.group, options.weight})
    if (!name.empty()) expected.names.insert(name);
  if (options.columns == nullptr) return expected;
  expected.no_header = std::all_of(options.columns->begin(), options.columns->end(),
                                   [](const Column& column) { return column.name.starts_with("column "); });
  for (const Column& column : *options.columns) {
    expected.names.insert(column.name);
    expected.decimal_comma = expected.decimal_comma || column.decimal_comma;
  }
  return expected;
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) { return Reader(path, options).read(); }

}  // namespace mokume::data
