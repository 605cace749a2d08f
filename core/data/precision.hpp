// Finds values that float32 cannot tell apart.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Returns a sentence for the first feature, and one for the targets, whose values in float32 lie further apart than a
// thousandth of the range of the training rows, such as seconds since 1970 within one day. Features that are scaled are
// not among them, because scaling starts from the values of the file.
std::vector<std::string> lost_digits(const DataSpec& spec, const Dataset& data);

// Drops Table::exact if `x` holds all of its values exactly.
void drop_exact_if_equal(Table& table);

// Returns the name of the column that gives feature `j`, quoted, or "feature 3", counted from 1, without columns.
std::string feature_name(const std::vector<Column>& columns, size_t j);

}  // namespace mokume::data
