// Labels as files give them, and how they become classes or regression targets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Every row of a file, also those beyond a limit. Either `values` or `texts` (or both) has one entry per row.
struct Labels {
  std::vector<double> values;      // empty if a label is not a number
  std::vector<std::string> texts;  // as written; empty where only numbers can occur
  std::vector<int64_t> lines;      // where each row starts, from 1; empty: rows are numbered instead
  std::vector<uint8_t> missing;    // 1 where there is no label; empty: none is missing

  size_t size() const { return values.empty() ? texts.size() : values.size(); }
  std::string place(size_t row) const;  // "line 7" or "row 7", from 1
};

// The meaning of the training file's labels.
struct LabelMap {
  bool regression = false;
  bool numeric = false;                  // classes are whole numbers, matched by value
  std::vector<std::string> class_names;  // ascending
};

// Numbers are classes where all of them are whole and there are at most 1000 different ones; `task` ("classification",
// "regression") says otherwise. Error(MK_BAD_DATA) where the labels are words and numbers are to be predicted.
LabelMap learn_labels(const Labels& labels, const std::string& path, const std::string& task);

// Fills labels or targets of `table` for its first rows. `unknown` is thrown about, or kept as label -1, and
// what is empty as kNoLabel or a target that is no number.
enum class Unknown { error, keep };
void apply_labels(const LabelMap& map, const std::string& path, const Labels& labels, Unknown unknown, Table& table);

// The map of a trained model.
LabelMap label_map(const std::vector<std::string>& class_names);

// The number that `text` as a whole is (a leading '+' allowed); false if it is none or not finite.
bool parse_number(std::string_view text, double& value);
// The same as float32; what underflows is 0.
bool parse_number(std::string_view text, float& value);

}  // namespace mokume::data
