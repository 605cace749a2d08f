// Draws the rows that all rows of a fit are compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace mokume::svc {

// Returns `count` of the rows that a fit of this fold trains on, or as many as there are if a bootstrap repeats rows;
// rows with weight 0 do not count. Every training row draws a random number, which depends only on the seed and on the
// row's place in the data, and the rows with the smallest numbers are the landmarks. So the draw is uniform, depends
// neither on the order of the rows nor on the number of the fold, and folds share most of their landmarks.
std::vector<int64_t> draw_landmarks(const RowOrder& order, int32_t fold, int64_t count, int64_t seed);

}  // namespace mokume::svc
