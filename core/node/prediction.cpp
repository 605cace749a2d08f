#include "node/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sdk/error.hpp"

namespace mokume::node {
namespace {

// Computes probabilities from their logarithms, in double. Returns false if they are not finite.
bool normalised(const float* logs, size_t n, double* to) {
  double sum = 0;
  for (size_t c = 0; c < n; ++c) sum += to[c] = std::exp(static_cast<double>(logs[c]));
  if (!std::isfinite(sum) || !(sum > 0)) return false;
  for (size_t c = 0; c < n; ++c) to[c] /= sum;
  return true;
}

}  // namespace

Classified classify(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device, size_t classes,
                    const float* x, int64_t rows, int64_t features, bool certain) {
  const auto n = static_cast<size_t>(rows);
  const bool probabilities = certain && model.probabilities != 0 && model.scores_per_row(fitted) == classes;
  Classified said;
  said.labels.resize(n);
  std::vector<float> scores(probabilities ? n * classes : 0);
  sdk::call(model.predict, model.self, fitted, device, x, rows, features, said.labels.data(),
            probabilities ? scores.data() : static_cast<float*>(nullptr));
  for (const int32_t label : said.labels)
    if (label < 0 || static_cast<size_t>(label) >= classes)
      throw Error(MK_DEVICE_ERROR, fmt::format("the model predicts class {} of {}", label, classes));
  if (!certain) return said;
  said.certainty.resize(n * classes);
  for (size_t r = 0; r < n; ++r) {
    double* const row = said.certainty.data() + r * classes;
    if (probabilities && normalised(scores.data() + r * classes, classes, row)) continue;
    std::fill(row, row + classes, 0.0);
    row[said.labels[r]] = 1;
  }
  return said;
}

std::vector<float> predict_targets(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device,
                                   const data::Table& rows) {
  if (const uint32_t scores = model.scores_per_row(fitted); scores != 1)
    throw Error(MK_DEVICE_ERROR,
                fmt::format("the model predicts {} numbers per row, but the data has one target", scores));
  std::vector<float> predicted(static_cast<size_t>(rows.rows));
  sdk::call(model.predict, model.self, fitted, device, rows.x.data(), rows.rows, rows.features,
            static_cast<int32_t*>(nullptr), predicted.data());
  return predicted;
}

}  // namespace mokume::node
