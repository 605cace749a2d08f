// The reader of IDX files.
#pragma once

#include <cstdint>
#include <string>

#include "data/raw_table.hpp"

namespace mokume::data {

// IDX (LeCun, Cortes, Burges: the MNIST database): images of unsigned bytes with 2 to 4 dimensions, the first being
// the rows (with 3 they are images: rows, height, width); labels of unsigned bytes with one. Plain or gzip. An empty
// `labels` gives a part without labels.
RawTable read_idx(const std::string& images, const std::string& labels, int64_t limit);

}  // namespace mokume::data
