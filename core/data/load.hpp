// Loads the data that [data] or `--data` describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

struct CsvPiece;

// Loads the data, applies the limit and scales. Throws Error(MK_BAD_DATA) with file, place and cure, or
// Error(MK_INVALID_ARGUMENT) if the spec contradicts itself. A name that contains no slash and does not exist here is
// looked up in $MOKUME_DATA/NAME/, then in the cache directory. Classes, one-hot levels and the number of features come
// from the whole training file, so `limit` does not change the meaning of a label; the means used for filling and
// scaling come from the kept rows. The task is regression if every label is a number, and one label has a fraction or
// more than 1,000 differ.
Dataset load(const DataSpec& spec);

// Columns of a CSV file that are copied with the rows, such as IDs.
struct CopiedColumns {
  std::vector<std::string> names;
  std::vector<std::string> cells = {};  // rows x names, filled in by load_for_prediction()
};

// The properties of a model's training set that rows to predict share.
struct TrainedOn {
  std::vector<std::string> class_names = {};
  std::vector<double> mean = {}, scale = {};  // one value, one per feature, or none
  int64_t features = 0;                       // 0 = unknown
  std::vector<Column> columns = {};           // Dataset::columns
  Shape shape = {};                           // the shape of the images, if rows are images
};

// Reads rows to predict. Like load(), but reads only `test`, or `path` without a test file, into `train`; reads labels
// if there are any; and applies the given scaling. Labels become indices into `class_names`, unknown labels -1, empty
// labels kNoLabel. If `class_names` is empty, labels are targets, and empty targets become NaN. Rows of libsvm text
// that are shorter than `features` are widened; any other difference is an error. Without `columns`, a csv spec with
// `categorical` or Missing::mean is rejected; with them, the target column may be absent. Pictures are converted to
// `shape`. `copied`, if set, receives the cells of its columns; only csv has columns. The path of csv and libsvm may be
// kStandardInput (input.hpp). `piece`, if set, replaces the csv file.
Dataset load_for_prediction(const DataSpec& spec, const TrainedOn& trained, CopiedColumns* copied = nullptr,
                            const CsvPiece* piece = nullptr);

}  // namespace mokume::data
