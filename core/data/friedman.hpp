#pragma once

#include <cstdint>

#include "data/raw_table.hpp"

namespace mokume::data {

// Draws 4,096 training rows or 1,024 test rows of 4,777 columns. Each column is a mixture of ten hidden factors,
// uniform in [0, 1), plus noise. The target is Friedman's function of the first five factors, plus noise of variance 1.
// Row i of a set is a pure function of (set, i).
RawTable draw_friedman(bool test, int64_t limit);

}  // namespace mokume::data
