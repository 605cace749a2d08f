// Labels as read from files, and their conversion to classes or regression targets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// The labels of all rows of a file, including those beyond a limit. `values`, `texts` or both have one entry per row.
struct Labels {
  std::vector<double> values;      // empty if a label is not a number
  std::vector<std::string> texts;  // as written; empty if only numbers can occur
  std::vector<int64_t> lines;      // where each row starts, from 1; empty: messages give row numbers instead
  std::vector<uint8_t> missing;    // 1 for a row without a label; empty: none is missing

  size_t size() const { return values.empty() ? texts.size() : values.size(); }
  std::string place(size_t row) const;  // "line 7" or "row 7", from 1
};

// The interpretation of the training file's labels.
struct LabelMap {
  bool regression = false;
  bool numeric = false;                  // classes are integers, matched by value
  std::vector<std::string> class_names;  // ascending
};

// Numbers are classes where all of them are whole and there are at most 1000 different ones; `task` ("classification",
// "regression") says otherwise. Error(MK_BAD_DATA) where the labels are words and numbers are to be predicted.
LabelMap learn_labels(const Labels& labels, const std::string& path, const std::string& task);

// Fills the labels or targets of the first rows of `table`. Unknown::error throws for unknown labels; Unknown::keep
// stores them as -1, and empty ones as kNoLabel or a NaN target.
enum class Unknown { error, keep };
void apply_labels(const LabelMap& map, const std::string& path, const Labels& labels, Unknown unknown, Table& table);

// Returns the label map of a trained model.
LabelMap label_map(const std::vector<std::string>& class_names);

// Parses all of `text` as a number (a leading '+' is allowed); returns false if it is not a finite number.
bool parse_number(std::string_view text, double& value);
// The same for float32; a value that underflows becomes 0.
bool parse_number(std::string_view text, float& value);

}  // namespace mokume::data
