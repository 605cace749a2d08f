#pragma once

#include <cstdint>
#include <string>

#include "data/raw_table.hpp"

namespace mokume::data {

// Reads IDX files (LeCun, Cortes, Burges: the MNIST database), plain or gzipped. Image files hold unsigned bytes in 2
// to 4 dimensions, the first of which counts the rows; files with 3 or 4 dimensions hold images (rows, height, width,
// channels). Label files hold unsigned bytes in one dimension. If `labels` is empty, the result has no labels. Every
// image is read once, and gzip's checksum with them; while the user's `cache` remembers that the file is whole and
// unchanged, the images behind `limit` are not read again.
RawTable read_idx(const std::string& images, const std::string& labels, int64_t limit, const std::string& cache = "");

}  // namespace mokume::data
