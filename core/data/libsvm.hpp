#pragma once

#include <cstdint>
#include <string>

#include "data/raw_table.hpp"

namespace mokume::data {

// Reads rows of the form `label index:value ...`, with ascending indices from 1; absent values are 0. `#` starts a
// comment, and `qid:n` after the label has no effect. A given number of `features` limits the indices. If it is 0, the
// highest index in the file is the number of features, and the reader rejects a file before it allocates memory if the
// dense table would take more than 16 MiB and more than 4,096 times the size of the text. `exact` keeps the values that
// float32 rounds in Table::exact. `sparse` keeps the rows sparse, so that their memory depends on the text alone.
RawTable read_libsvm(const std::string& path, int64_t limit, int64_t features, bool exact = false, bool sparse = false);

// Tells in a sentence whether `storage = "auto"` keeps sparse rows as they are, and why.
struct StorageChoice {
  bool sparse = false;
  std::string sentence;
};

// Keeps the rows sparse if dense ones would take more than 256 MiB and less than a tenth of the values are not 0. The
// choice depends on the rows alone, so it is the same on every machine.
StorageChoice choose_storage(const Table& train, const Table& test);

// Makes sparse rows dense.
void make_dense(RawTable& part);

// Appends features that are 0 in all rows, up to `features` of them. Throws Error(MK_BAD_DATA) that names the file
// `path`, which has them, if the table would be too large for its text.
void widen(const std::string& path, int64_t features, RawTable& part);

}  // namespace mokume::data
