// Scaling of inputs and the hash of a data set's content.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Finds the scaling of a table by these rows of it, in this order: `mean` and `scale` hold one value, one per feature,
// or none.
void fit_scaling(const Standardize& how, const Table& table, const std::vector<uint32_t>& rows,
                 std::vector<double>& mean, std::vector<double>& scale);

// Sets `mean` and `scale` of the data set by its training rows, and applies them to train and test. Error(MK_BAD_DATA)
// if a value leaves the range of float32.
void standardize(const Standardize& how, Dataset& data);

// Throws unless the training rows have the model's number of features (0: unknown) and the scaling fits them:
// MK_BAD_DATA for rows of another kind, MK_INVALID_ARGUMENT for a damaged scaling.
void check_scaling(const Dataset& data, int64_t features, const std::vector<double>& mean,
                   const std::vector<double>& scale);

// x' = (x - mean) / scale in double, rounded once. `mean` and `scale` hold one value, one per feature, or none.
void apply_scaling(const std::vector<double>& mean, const std::vector<double>& scale, const std::string& name,
                   Table& table);

// SHA-256 of the shapes, values and labels or targets of train and test, and of the class names, all little-endian.
std::string content_hash(const Dataset& data);

}  // namespace mokume::data
