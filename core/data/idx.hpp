// The IDX reader.
#pragma once

#include <cstdint>
#include <string>

#include "data/raw_table.hpp"

namespace mokume::data {

// Reads IDX files (LeCun, Cortes, Burges: the MNIST database): images of unsigned bytes with 2 to 4 dimensions, of
// which the first is the rows (3 and 4 dimensions are images: rows, height, width, channels), and labels of unsigned
// bytes with one dimension. Plain or gzip. An empty `labels` gives a part without labels.
RawTable read_idx(const std::string& images, const std::string& labels, int64_t limit);

}  // namespace mokume::data
