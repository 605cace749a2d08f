// Scales inputs and hashes the content of a data set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mokume::data {

// Computes the scaling from `rows` of a table, in order. `mean` and `scale` hold one value, one per feature, or none.
void fit_scaling(const Standardize& how, const Table& table, const std::vector<uint32_t>& rows,
                 std::vector<double>& mean, std::vector<double>& scale);

// Computes `mean` and `scale` of the data set from its training rows, and applies them to train and test. Throws
// Error(MK_BAD_DATA) if a value leaves the range of float32.
void standardize(const Standardize& how, Dataset& data);

// Throws Error(MK_BAD_DATA) unless the training rows match the model's number of features (0 if unknown) and its
// scaling, and Error(MK_INVALID_ARGUMENT) for a damaged scaling.
void check_scaling(const Dataset& data, int64_t features, const std::vector<double>& mean,
                   const std::vector<double>& scale);

// Sets x to (x - mean) / scale in double, rounded once. `mean` and `scale` hold one value, one per feature or none.
void apply_scaling(const std::vector<double>& mean, const std::vector<double>& scale, const std::string& name,
                   Table& table);

// Returns the SHA-256 of shapes, values, labels, targets, class names, given folds and weights, all little-endian.
std::string content_hash(const Dataset& data);

}  // namespace mokume::data
