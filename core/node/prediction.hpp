// Predictions of a trained model for a table of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/model.h"
#include "data/dataset.hpp"

namespace mokume::node {

// The file of a member's predictions for the test rows, in its model's directory. A row of a classifier holds the class
// that the member votes for, and its certainty of each class; any other row holds the predicted number.
inline constexpr const char* kTestPredictions = "/test.npy";

struct Calibration;

// Returns the number of scores per row for a kind, or `unknown` if the kind does not determine it.
size_t scores_of_kind(mk_score_kind kind, size_t classes, size_t unknown);

// Computes probabilities from their logarithms, in double. Returns false if they are not finite. If the largest
// probability would round to 1, it becomes the largest double below 1, unless all others are 0.
bool normalised(const float* logs, size_t n, double* to);

struct Classified {
  std::vector<int32_t> labels;  // one per row
  // The following fields are filled only if requested.
  // rows x classes; each row sums to 1. A probability is 1 or 0 only if all others, or itself, are below the doubles.
  std::vector<double> certainty;
  mk_score_kind kind = MK_SCORES_UNKNOWN;
  // rows x the model's scores per row; probabilities instead of log-probabilities, NaN in a row without finite scores.
  std::vector<float> scores = {};
};

// Scaled rows of inputs.
struct InputRows {
  const float* x;
  int64_t rows, features;
};

// Classifies rows. If `certain`, adds scores and certainties: the probabilities of the model, or of
// `calibration` if it is not null; or 1 for the predicted class if there are none (mk_model.score_kind) or they are not
// finite. Throws Error(MK_DEVICE_ERROR) if the model predicts an unknown class, or the number of scores does not suit
// their kind.
Classified classify(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device, size_t classes,
                    const InputRows& rows, bool certain, const Calibration* calibration = nullptr);

// Regression: returns one predicted number per row. Throws Error(MK_DEVICE_ERROR) if the model predicts more than one.
std::vector<float> predict_targets(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                                   const data::Table& rows);

}  // namespace mokume::node
