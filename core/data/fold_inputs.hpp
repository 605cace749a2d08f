// The inputs of one fold: the training rows, filled and scaled by what the rows of its training part tell alone.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

struct FoldInputs {
  Table table;  // all training rows, without labels and targets
  std::vector<double> mean;
  std::vector<double> scale;
};

// `rows` are the training rows of the fold; one that occurs k times counts k times. Where all of them lack a column,
// its gaps keep the filler of all training rows. `data` was loaded with Within::fold, and `how` is its scaling. A pure
// function of its arguments. Error(MK_BAD_DATA) if a value leaves the range of float32.
FoldInputs fold_inputs(const Dataset& data, const Standardize& how, const std::vector<uint32_t>& rows);

}  // namespace mokume::data
