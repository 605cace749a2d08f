// The rows of one file as its reader finds them. A reader reads the file whole, checks all of it and keeps the first
// `limit` rows (0 = all). Every failure is Error(MK_BAD_DATA) that names file, place and cure.
#pragma once

#include <string>

#include "data/dataset.hpp"
#include "data/labels.hpp"

namespace mokume::data {

struct RawTable {
  std::string path;
  Table table;  // without labels and targets
  Labels labels;
  Shape shape;  // of an image; channels 0: no image
};

}  // namespace mokume::data
