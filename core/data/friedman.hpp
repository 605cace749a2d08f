// A made regression data set.
#pragma once

#include <cstdint>

#include "data/raw_table.hpp"

namespace mokume::data {

// 4,096 rows to train on, or 1,024 to test on, of 4,777 columns: column = mixture of ten hidden factors, uniform in
// [0, 1), + noise; targets follow from the first five by Friedman's function + noise of variance 1. Row i of a set is a
// pure function of (set, i).
RawTable draw_friedman(bool test, int64_t limit);

}  // namespace mokume::data
