#include "node/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "node/calibration.hpp"
#include "sdk/error.hpp"
#include "sdk/portable.hpp"

namespace mokume::node {
namespace {

constexpr double kBelowOne = 1 - 0x1p-53;

void predict(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device, const InputRows& rows,
             int32_t* labels, float* scores) {
  if (rows.starts == nullptr)
    return sdk::call(model.predict, model.self, fitted, device, rows.x, rows.rows, rows.features, labels, scores);
  if (model.predict_sparse == nullptr)
    throw Error(MK_INVALID_ARGUMENT,
                "data.storage is 'sparse', but this model takes dense rows only: remove it, or set it to dense");
  mk_data sparse{};
  sparse.rows = rows.rows;
  sparse.features = rows.features;
  sparse.x = rows.x;
  sparse.starts = rows.starts;
  sparse.column = rows.column;
  sdk::call(model.predict_sparse, model.self, fitted, device, &sparse, labels, scores);
}

Classified calibrated(const mk_model& model, const Calibration& calibration, Classified said, size_t classes) {
  said.certainty = calibration.probabilities(model, said.scores, said.labels.size(), classes);
  said.kind = MK_SCORES_LOG_PROBABILITIES;
  said.scores.assign(said.certainty.begin(), said.certainty.end());
  return said;
}

}  // namespace

InputRows input_rows(const data::Table& table, int64_t first, int64_t rows) {
  if (table.sparse()) return {table.x.data(), rows, table.features, table.starts.data() + first, table.column.data()};
  return {table.x.data() + first * table.features, rows, table.features};
}

bool normalised(const float* logs, size_t n, double* to) {
  double sum = 0;
  for (size_t c = 0; c < n; ++c) sum += to[c] = sdk::portable::exp(static_cast<double>(logs[c]));
  if (!std::isfinite(sum) || !(sum > 0)) return false;
  const bool several = std::count_if(to, to + n, [](double p) { return p > 0; }) > 1;
  for (size_t c = 0; c < n; ++c) to[c] = several ? std::min(to[c] / sum, kBelowOne) : to[c] / sum;
  return true;
}

size_t scores_of_kind(mk_score_kind kind, size_t classes, size_t unknown) {
  if (kind == MK_SCORES_LOG_PROBABILITIES || kind == MK_SCORES_ONE_VS_REST) return classes;
  return kind == MK_SCORES_ONE_VS_ONE ? classes * (classes - 1) / 2 : unknown;
}

Classified classify(const mk_model& model, const mk_fitted* fitted, const mk_device_services* device, size_t classes,
                    const InputRows& rows, bool certain, const Calibration* calibration) {
  const auto n = static_cast<size_t>(rows.rows);
  Classified said;
  said.labels.resize(n);
  if (certain) {
    said.kind = static_cast<mk_score_kind>(model.score_kind(fitted));
    const size_t each = model.scores_per_row(fitted);
    if (each != scores_of_kind(said.kind, classes, each))
      throw Error(MK_DEVICE_ERROR, fmt::format("the model gives {} scores per row for {} classes", each, classes));
    said.scores.resize(n * each);
  }
  const bool probabilities = said.kind == MK_SCORES_LOG_PROBABILITIES;
  predict(model, fitted, device, rows, said.labels.data(), certain ? said.scores.data() : nullptr);
  for (const int32_t label : said.labels)
    if (label < 0 || static_cast<size_t>(label) >= classes)
      throw Error(MK_DEVICE_ERROR, fmt::format("the model predicts class {} of {}", label, classes));
  if (!certain) return said;
  if (calibration != nullptr) return calibrated(model, *calibration, std::move(said), classes);
  said.certainty.resize(n * classes);
  for (size_t r = 0; r < n; ++r) {
    double* const row = said.certainty.data() + r * classes;
    float* const scores = probabilities ? said.scores.data() + r * classes : nullptr;
    const bool known = probabilities && normalised(scores, classes, row);
    for (size_t c = 0; probabilities && c < classes; ++c) scores[c] = known ? static_cast<float>(row[c]) : NAN;
    if (known) continue;
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
  predict(model, fitted, device, input_rows(rows, 0, rows.rows), nullptr, predicted.data());
  return predicted;
}

}  // namespace mokume::node
