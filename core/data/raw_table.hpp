// The rows of one file as its reader returns them. A reader reads and checks the whole file and keeps the first `limit`
// rows (0 = all). Every failure is an Error(MK_BAD_DATA) that names the file, the place and the cure.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/labels.hpp"

namespace mokume::data {

struct RawTable {
  std::string path;
  Table table;  // without labels and targets
  Labels labels;
  Shape shape;  // of an image; channels 0: not an image
};

// What the reader of a source returns.
struct Parts {
  std::string name;  // of the data set
  RawTable train;
  RawTable test;  // no rows: there is none
  std::vector<Column> columns = {};
  std::vector<std::string> notes = {};  // what was found by looking at the files, one sentence each
  std::vector<Gap> gaps = {};           // of train
};

}  // namespace mokume::data
