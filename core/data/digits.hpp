#pragma once

#include <cstdint>

#include "data/raw_table.hpp"

namespace mokume::data {

// Draws synthetic handwritten digits of 28 x 28 grey values 0..255 in 10 classes: 2,000 training rows and 1,000 test
// rows. Image i of a set is a pure function of (set, i), identical on every platform.
enum class DigitSet : uint32_t { train = 0, test = 1 };
RawTable draw_digits(DigitSet set, int64_t limit);

}  // namespace mokume::data
