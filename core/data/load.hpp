// Loads the data that [data] or `--data` describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

struct CsvPiece;

// Loads, limits and scales. Throws Error(MK_BAD_DATA) naming file, place and cure; Error(MK_INVALID_ARGUMENT) if the
// spec contradicts itself. A name without a slash that does not exist here is looked up in $MOKUME_DATA/NAME/, then in
// the cache directory. Classes, one-hot levels and the number of features come from the whole training file, so `limit`
// does not change the meaning of a label; the means used for filling and scaling come from the kept rows. The task is
// regression if every label is a number and one has a fraction or more than 1,000 differ.
Dataset load(const DataSpec& spec);

// Columns of a CSV file that accompany its rows as they are, such as IDs.
struct CopiedColumns {
  std::vector<std::string> names;
  std::vector<std::string> cells = {};  // rows x names, filled in by load_for_prediction()
};

// Reads rows to predict: like load(), but reads only `test`, or `path` if there is none, into `train`, with labels if
// there are any, and applies the given scaling (one value, one per feature, or none). Labels become indices into
// `class_names`, unknown ones -1, empty ones kNoLabel. If `class_names` is empty, labels are targets, and empty ones
// NaN. `features` is the model's number of features (0 = unknown): rows of libsvm text are widened to it; any other
// difference is an error. `columns` is Dataset::columns of the training set: without it, a csv spec with `categorical`
// or Missing::mean is rejected; with it, the target column may be absent. `shape` is that of the model's rows if
// they are images: pictures are converted to it. `copied`, if any, gets the cells of its columns; only csv has columns.
// The path of csv and libsvm may be kStandardInput (input.hpp). `piece`, if any, holds rows of csv in place of the
// file.
Dataset load_for_prediction(const DataSpec& spec, const std::vector<std::string>& class_names,
                            const std::vector<double>& mean, const std::vector<double>& scale, int64_t features = 0,
                            const std::vector<Column>& columns = {}, const Shape& shape = {},
                            CopiedColumns* copied = nullptr, const CsvPiece* piece = nullptr);

}  // namespace mokume::data
