// Predictions of a trained model for a table of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/model.h"
#include "data/dataset.hpp"

namespace mokume::node {

// The file of a member's predictions for the test rows, in its model's directory. A row of a classifier holds the class
// that the member votes for, and its certainty of each class; otherwise a row holds the predicted number.
inline constexpr const char* kTestPredictions = "/test.npy";

struct Calibration;

// Returns how many scores of a kind a row has; `unknown` where the kind does not tell.
size_t scores_of_kind(mk_score_kind kind, size_t classes, size_t unknown);

// Computes probabilities from their logarithms, in double. Returns false if they are not finite. The largest one may be
// so close to 1 that no double lies between; it then becomes the largest double below 1, unless all others are 0.
bool normalised(const float* logs, size_t n, double* to);

struct Classified {
  std::vector<int32_t> labels;  // one per row
  // Only if requested:
  // rows x classes; each row sums to 1. A probability is 1 or 0 only if all others, or itself, are below the doubles.
  std::vector<double> certainty;
  mk_score_kind kind = MK_SCORES_UNKNOWN;
  // rows x the model's scores per row; log-probabilities have become probabilities, NaN for a row without finite ones.
  std::vector<float> scores = {};
};

// Classifies `rows` scaled rows of x. If `certain`, adds scores and certainties: the model's probabilities; those of
// `calibration`, which may be null, as if they were the model's; or 1 for the predicted class if it has none
// (mk_model.score_kind) or they are not finite. Throws Error(MK_DEVICE_ERROR) if the model predicts an unknown class,
// or the number of scores does not suit their kind.
Classified classify(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device, size_t classes,
                    const float* x, int64_t rows, int64_t features, bool certain,
                    const Calibration* calibration = nullptr);

// Regression: returns one predicted number per row. Throws Error(MK_DEVICE_ERROR) if the model predicts more than one.
std::vector<float> predict_targets(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                                   const data::Table& rows);

}  // namespace mokume::node
