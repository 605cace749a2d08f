// Predictions of a trained model for rows.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/model.h"
#include "data/dataset.hpp"

namespace mokume::node {

// The file of a member's predictions for the test rows, in its model's directory. A row of a classifier holds the class
// that the member votes for and its certainty of each class; otherwise a row holds the predicted number.
inline constexpr const char* kTestPredictions = "/test.npy";

struct Classified {
  std::vector<int32_t> labels;    // rows
  std::vector<double> certainty;  // rows x classes; each row sums to 1; only if asked for
};

// `rows` scaled rows of x. `certain`: with certainties: the model's probabilities; where it has none
// (mk_model.probabilities), or they are not finite, 1 for the class that it votes for. Error(MK_DEVICE_ERROR) for a
// class that there is not.
Classified classify(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device, size_t classes,
                    const float* x, int64_t rows, int64_t features, bool certain);

// Regression: one predicted number per row. Error(MK_DEVICE_ERROR) if the model has more of them.
std::vector<float> predict_targets(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                                   const data::Table& rows);

}  // namespace mokume::node
