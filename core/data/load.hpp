// Reads what [data] or `--data` describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Loads, limits and scales. Throws Error(MK_BAD_DATA) naming file, place and cure; Error(MK_INVALID_ARGUMENT) if the
// spec contradicts itself. A name without a slash that is not here is looked up in $MOKUME_DATA/NAME/, then in the
// cache directory. Classes, one-hot levels and the number of features come from the whole training file, so `limit`
// does not change what a label means; means that fill or scale come from the rows kept.
// A target is regression if every label is a number and one has a fraction or more than 1,000 are different.
Dataset load(const DataSpec& spec);

// Reads rows to predict: like load(), but `test` alone, or `path` without it, into `train`, with labels if there are
// any, scaled with the given scaling (one value, one per feature, or none). Labels get their place in `class_names`,
// unknown ones -1, empty ones kNoLabel; with empty `class_names` they are targets, empty ones NaN. `features`: how many
// the model has (0 = unknown): rows of libsvm text are widened to it, any other difference is an error. `columns`:
// Dataset::columns of the training set; without it a csv spec with `categorical` or Missing::mean is refused, with it
// the target column may be absent.
Dataset load_for_prediction(const DataSpec& spec, const std::vector<std::string>& class_names,
                            const std::vector<double>& mean, const std::vector<double>& scale, int64_t features = 0,
                            const std::vector<Column>& columns = {});

}  // namespace mokume::data
