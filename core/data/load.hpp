// Loads the data that [data] or `--data` describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

struct CsvExpected;
struct CsvPiece;

// Loads the data, applies the limit and scales. Throws Error(MK_BAD_DATA) with file, place and cure, or
// Error(MK_INVALID_ARGUMENT) if the spec contradicts itself. Looks up a name without a slash that does not exist here
// in $MOKUME_DATA/NAME/, then in the cache directory. Classes, one-hot levels and the number of features come from the
// whole training file, so `limit` does not change the meaning of a label; the means used for filling and scaling come
// from the kept rows. Unless spec.task decides, the task is regression if every label is a number and either one of
// them has a fraction or more than 1,000 are distinct.
Dataset load(const DataSpec& spec);

// Holds the properties of a model's training set that rows to predict share.
struct TrainedOn {
  std::vector<std::string> class_names = {};
  std::vector<double> mean = {}, scale = {};  // one value, one per feature, or none
  int64_t features = 0;                       // 0 if unknown
  std::vector<Column> columns = {};           // Dataset::columns
  Shape shape = {};                           // shape of the images, if rows are images

  bool scales() const { return !mean.empty(); }
};

// Returns what is known of a csv file with rows to predict.
CsvExpected expected_in(const DataSpec& spec, const TrainedOn& trained);

// Reads rows to predict into `train`: those of `test`, or of `path` without a test file. Works like load(), but applies
// the given scaling and accepts rows without labels. Labels become indices into `class_names`, unknown labels -1, and
// empty labels kNoLabel. If `class_names` is empty, labels are targets, and empty targets become NaN. Widens rows of
// libsvm text that are shorter than `features`; any other difference is an error. Without `columns`, rejects a csv spec
// with `categorical` or Missing::mean; with them, the target column may be absent. Converts pictures to `shape`.
// `copied`, if set, receives the cells of its columns, which only csv has. The path of csv and libsvm may be
// kStandardInput (input.hpp). `piece`, if set, replaces the csv file.
Dataset load_for_prediction(const DataSpec& spec, const TrainedOn& trained, CopiedColumns* copied = nullptr,
                            const CsvPiece* piece = nullptr);

}  // namespace mokume::data
