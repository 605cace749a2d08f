// Holds the rows of one file as returned by its reader. A reader reads and checks the whole file and keeps the first
// `limit` rows (0 means all). Every failure is an Error(MK_BAD_DATA) that names the file, the place and the cure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/labels.hpp"

namespace mokume::data {

struct RawTable {
  std::string path;
  Table table;  // has no labels or targets
  Labels labels;
  Shape shape;              // shape of an image; 0 channels if the rows are not images
  uint64_t text_bytes = 0;  // libsvm: size of the text
};

// Holds the result of a source's reader.
struct Parts {
  std::string name;  // name of the data set
  RawTable train;
  RawTable test;  // may be empty
  std::vector<Column> columns = {};
  std::vector<std::string> notes = {};  // findings from reading the files, one sentence each
  std::vector<Gap> gaps = {};           // gaps of `train`
  CopiedColumns ids = {};               // Dataset::ids
  std::string storage_note = {};        // Dataset::storage_note
};

}  // namespace mokume::data
