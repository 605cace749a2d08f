#pragma once

#include <cstdint>
#include <string>

#include "data/raw_table.hpp"

namespace mokume::data {

// Rows have the form `label index:value ...`, with ascending indices from 1; absent values are 0. If `features` is 0,
// the highest index in the file determines the number of features; otherwise a higher index is an error. `#` starts a
// comment, and `qid:n` after the label has no effect. Rows become dense: a file whose table would take more than 16 MiB
// and more than 4,096 times the size of the text is rejected before memory is allocated.
RawTable read_libsvm(const std::string& path, int64_t limit, int64_t features);

}  // namespace mokume::data
