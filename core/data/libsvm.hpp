// The reader of LIBSVM text.
#pragma once

#include <cstdint>
#include <string>

#include "data/raw_table.hpp"

namespace mokume::data {

// `label index:value ...` per row, indices from 1 and ascending; what is absent is 0. `features` 0: as many as the
// highest index of the file; else that many, and a higher index is an error.
RawTable read_libsvm(const std::string& path, int64_t limit, int64_t features);

}  // namespace mokume::data
