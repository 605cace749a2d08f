// Computes the predictions of a trained model for a table of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/model.h"
#include "data/dataset.hpp"

namespace mokume::node {

// Names the file with a member's predictions for the test rows, in its model's directory. For a classifier, a row holds
// the class for which the member votes, and its certainty of each class; otherwise, a row holds the predicted number.
inline constexpr const char* kTestPredictions = "/test.npy";

struct Calibration;

// Returns the number of scores per row for a kind, or `unknown` if the kind does not determine it.
size_t scores_of_kind(mk_score_kind kind, size_t classes, size_t unknown);

// Computes probabilities from their logarithms, in double precision. Returns false if their sum is not finite or is 0.
// If the largest probability would round to 1, it becomes the largest double below 1, unless all others are 0.
bool normalised(const float* logs, size_t n, double* to);

struct Classified {
  std::vector<int32_t> labels;  // one per row
  // The other members are set only on request. `certainty` is rows x classes, and each row sums to 1. A probability is
  // 1 only if all others are too small for a double, and 0 only if it is too small itself.
  std::vector<double> certainty;
  mk_score_kind kind = MK_SCORES_UNKNOWN;
  // `scores` is rows x scores per row, with probabilities, or NaN if they are not finite, for log-probabilities.
  std::vector<float> scores = {};
};

// Refers to scaled rows of inputs. See mk_data for sparse rows, which have `starts` and `column`.
struct InputRows {
  const float* x;
  int64_t rows, features;
  const int64_t* starts = nullptr;
  const int32_t* column = nullptr;
};

// Refers to `rows` rows of a table, beginning with row `first`.
InputRows input_rows(const data::Table& table, int64_t first, int64_t rows);

// Classifies rows. If `certain` is set, adds scores and certainties: the probabilities of the model, or of
// `calibration` if it is not null. If there are none (mk_model.score_kind) or they are not finite, the predicted class
// has certainty 1. Throws Error(MK_DEVICE_ERROR) if the model predicts an unknown class, or if the number of scores
// does not suit their kind.
Classified classify(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device, size_t classes,
                    const InputRows& rows, bool certain, const Calibration* calibration = nullptr);

// Returns a predicted number for each row of a regression. Throws Error(MK_DEVICE_ERROR) if the model predicts more.
std::vector<float> predict_targets(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                                   const data::Table& rows);

}  // namespace mokume::node
