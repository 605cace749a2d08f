#include "node/validated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sdk/error.hpp"

namespace mokume::node {
namespace {

using data::Measure;
using data::Needs;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void votes_of(std::span<const float> pairs, size_t classes, double* to) {
  std::vector<double> confidence(classes);
  size_t pair = 0;
  for (size_t a = 0; a < classes; ++a)
    for (size_t b = a + 1; b < classes; ++b, ++pair) {
      const auto value = static_cast<double>(pairs[pair]);
      confidence[a] += value;
      confidence[b] -= value;
      to[value > 0 ? a : b] += 1;
    }
  // The confidence stays below a third, so that it only breaks ties.
  for (size_t c = 0; c < classes; ++c) to[c] += confidence[c] / (3 * (std::abs(confidence[c]) + 1));
}

std::optional<double> value_of(Measure measure, std::span<const int32_t> labels, const data::Confusion& confusion,
                               mk_score_kind kind, std::span<const double> values) {
  if (measure == Measure::auc) return data::auc(labels, values, confusion.classes);
  if (measure != Measure::log_loss) return data::value_of(measure, confusion);
  if (kind != MK_SCORES_LOG_PROBABILITIES) return std::nullopt;
  return data::log_loss(labels, values, confusion.classes);
}

std::vector<double> measured_numbers(const mk_validated& rows, size_t n, const data::Table& train,
                                     std::span<const data::MeasureInfo> wanted) {
  std::vector<float> targets;
  for (size_t r = 0; r < n; ++r) targets.push_back(train.targets[static_cast<size_t>(rows.rows[r])]);
  std::vector<double> found;
  for (const data::MeasureInfo& one : wanted)
    found.push_back(data::value_of(one.measure, targets, {rows.numbers, n}).value_or(kNone));
  return found;
}

}  // namespace

std::vector<double> class_values(mk_score_kind kind, std::span<const float> scores, size_t classes) {
  const size_t each = scores_of_kind(kind, classes, 0);
  if (each == 0) return {};
  const size_t rows = scores.size() / each;
  std::vector<double> values(rows * classes);
  for (size_t r = 0; r < rows; ++r) {
    const std::span<const float> row = scores.subspan(r * each, each);
    double* const to = values.data() + r * classes;
    if (kind == MK_SCORES_ONE_VS_ONE)
      votes_of(row, classes, to);
    else if (kind == MK_SCORES_ONE_VS_REST)
      std::copy(row.begin(), row.end(), to);
    else if (!normalised(row.data(), classes, to))
      std::fill(to, to + classes, kNone);
  }
  return values;
}

void check(const mk_validated& rows, int64_t n, const data::Table& train, size_t classes) {
  const auto refuse = [](const std::string& what) {
    throw Error(MK_INTERNAL, "the model reported " + what + " of validated rows; the model library is faulty");
  };
  if (n > 0 && rows.rows == nullptr) refuse("no numbers");
  for (int64_t r = 0; r < n; ++r)
    if (rows.rows[r] < 0 || rows.rows[r] >= train.rows) refuse(fmt::format("the number {}", rows.rows[r]));
  if (classes == 0) {
    if (n > 0 && rows.numbers == nullptr) refuse("no predicted targets");
    return;
  }
  if (n > 0 && (rows.labels == nullptr || rows.predicted == nullptr)) refuse("no classes");
  for (const int32_t* one : {rows.labels, rows.predicted})
    for (int64_t r = 0; r < n; ++r)
      if (one[r] < 0 || static_cast<size_t>(one[r]) >= classes) refuse(fmt::format("class {} of {}", one[r], classes));
  const auto kind = static_cast<mk_score_kind>(rows.score_kind);
  if (kind == MK_SCORES_UNKNOWN) return;
  if (n > 0 && rows.scores == nullptr) refuse("no scores");
  if (rows.scores_per_row != scores_of_kind(kind, classes, 0))
    refuse(fmt::format("{} scores per row", rows.scores_per_row));
}

std::vector<double> measured(const mk_validated& rows, int64_t n, const data::Table& train, size_t classes,
                             std::span<const data::MeasureInfo> wanted) {
  const auto count = static_cast<size_t>(n);
  if (classes == 0) return measured_numbers(rows, count, train, wanted);
  const std::span labels(rows.labels, count);
  const data::Confusion confusion = data::count_confusion(labels, {rows.predicted, count}, classes);
  const auto kind = static_cast<mk_score_kind>(rows.score_kind);
  std::vector<double> values;
  if (std::any_of(wanted.begin(), wanted.end(), [](const auto& one) { return one.needs != Needs::classes; }))
    values = class_values(kind, {rows.scores, count * rows.scores_per_row}, classes);
  std::vector<double> found;
  for (const data::MeasureInfo& one : wanted)
    found.push_back(value_of(one.measure, labels, confusion, kind, values).value_or(kNone));
  return found;
}

std::map<std::string, double> all_measured(std::span<const int32_t> labels, const data::Confusion& confusion,
                                           mk_score_kind kind, std::span<const double> values) {
  std::map<std::string, double> found;
  for (const data::MeasureInfo& one : data::all_measures()) {
    if (one.needs == Needs::numbers || (one.needs != Needs::classes && values.empty())) continue;
    const auto value = value_of(one.measure, labels, confusion, kind, values);
    if (value && std::isfinite(*value)) found[one.name] = *value;
  }
  return found;
}

}  // namespace mokume::node
