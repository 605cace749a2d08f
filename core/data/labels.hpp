// Holds labels read from files, and converts them to classes or regression targets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Holds the labels of all rows of a file, even beyond DataSpec::limit, one per row in `values`, `texts` or both.
struct Labels {
  std::vector<double> values;      // empty if some label is not a number
  std::vector<std::string> texts;  // labels as written; empty if the format allows only numbers
  std::vector<int64_t> lines;      // line where each row starts, from 1; if empty, messages give row numbers
  std::vector<uint8_t> missing;    // 1 for a row without a label; empty if all rows have labels

  size_t size() const { return values.empty() ? texts.size() : values.size(); }
  std::string place(size_t row) const;  // returns "line 7" or "row 7", from 1
};

// Tells how to interpret labels, as learned from the training file.
struct LabelMap {
  bool regression = false;
  bool numeric = false;                  // classes are integers, matched by value
  std::vector<std::string> class_names;  // ascending
};

// Names the task whose labels are 1 for rows to accept and -1 for rows to reject, of which the training file may have
// only one.
inline constexpr const char* kOneClass = "one_class";

// Treats words as classes, and numbers as classes if all of them are whole and at most 1,000 are distinct. For numbers,
// a `task` of "classification" or "regression" decides instead. Throws Error(MK_BAD_DATA) if the labels do not suit
// `task`.
LabelMap learn_labels(const Labels& labels, const std::string& path, const std::string& task);

// Fills in the labels or targets of the first rows of `table`. Unknown::error throws for unknown labels. Unknown::keep
// stores unknown labels as -1, and empty labels as kNoLabel or a NaN target.
enum class Unknown { error, keep };
void apply_labels(const LabelMap& map, const std::string& path, const Labels& labels, Unknown unknown, Table& table);

// Return a sentence if two classes, or two levels of a categorical column, differ only in case or in blanks, or "".
std::string classes_alike(const std::vector<std::string>& class_names);
std::string levels_alike(const Column& column);

// Returns the label map of a trained model.
LabelMap label_map(const std::vector<std::string>& class_names);

// Parses all of `text` as a number (a leading '+' is allowed). Returns false unless it is a finite number.
bool parse_number(std::string_view text, double& value);
// Parses a float32 in the same way; a value that underflows becomes 0.
bool parse_number(std::string_view text, float& value);

}  // namespace mokume::data
