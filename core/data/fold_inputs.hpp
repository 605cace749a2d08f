// Computes the inputs of one fold: all training rows, filled and scaled using only the rows that the fold trains on.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Returns a copy of the inputs of a table, without labels, targets and the like.
Table inputs_of(const Table& table);

struct FoldInputs {
  Table table;  // all training rows, without labels and targets
  std::vector<double> mean;
  std::vector<double> scale;
};

// Computes the inputs of the fold that trains on `rows`, where a row that occurs k times counts k times. If all of them
// lack a column, its gaps keep the filler from all training rows. `data` was loaded with Within::fold, and `how` is its
// scaling. Depends only on its arguments. Throws Error(MK_BAD_DATA) if a value leaves the range of float32.
FoldInputs fold_inputs(const Dataset& data, const Standardize& how, const std::vector<uint32_t>& rows);

}  // namespace mokume::data
