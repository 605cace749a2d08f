#include "node/fit_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "node/validated.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(MK_INTERNAL, "the model reported " + what + "; the model library is faulty");
}

journal::Curve curve_of(const mk_curve& given) {
  const size_t length = given.name == nullptr ? 0 : ::strnlen(given.name, kMaxCurveName + 1);
  journal::Curve curve{std::string(given.name == nullptr ? "" : given.name, length), {}};
  if (given.n_values > kMaxCurveValues)
    refuse(fmt::format("{} values for the curve {}, {} are allowed", given.n_values, curve.name, kMaxCurveValues));
  if (given.n_values > 0 && given.values == nullptr) refuse("no values for the curve " + curve.name);
  curve.values.reserve(given.n_values);
  for (uint32_t i = 0; i < given.n_values; ++i) {
    // The journal has a single NaN, and writing a record must not change it.
    const double value = given.values[i];
    curve.values.push_back(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
  }
  return curve;
}

}  // namespace

std::vector<journal::Curve> curves_of(const mk_fit_result& result) {
  if (result.n_curves > kMaxCurves)
    refuse(fmt::format("{} curves for one fit, {} are allowed", result.n_curves, kMaxCurves));
  if (result.n_curves > 0 && result.curves == nullptr) refuse("curves without data");
  std::vector<journal::Curve> curves;
  for (uint32_t i = 0; i < result.n_curves; ++i) curves.push_back(curve_of(result.curves[i]));
  std::sort(curves.begin(), curves.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return curves;
}

std::string note_of(const mk_fit_result& result) { return result.note != nullptr ? result.note : ""; }

FitSink::FitSink(cluster::Reporter& reporter)
    : reporter_(reporter),
      table_{this,
             [](void* self, const mk_fit_result* result, mk_error* error) -> int32_t {
               return sdk::guard(error, [&] { static_cast<FitSink*>(self)->take(*result); });
             },
             [](void* self, const char* what, double share) {
               static_cast<FitSink*>(self)->reporter_.progress(what, share);
             },
             [](void* self) -> int32_t { return static_cast<FitSink*>(self)->reporter_.cancelled() ? 1 : 0; },
             0,
             0} {}

FitSink::FitSink(cluster::Reporter& reporter, std::vector<uint32_t> ids, const Experiment& experiment, bool counts,
                 OutOfFoldWriter predictions)
    : FitSink(reporter) {
  ids_ = std::move(ids);
  experiment_ = &experiment;
  if (experiment.plan().bootstraps == 1) predictions_ = std::move(predictions);
  const bool gives = experiment.model().validated != MK_VALIDATED_NOTHING;
  const bool measures = !experiment.measures().empty();
  if (counts && gives && (predictions_ || measures)) table_.wants_validated = measures ? 1 : 2;
}

FitSink::FitSink(cluster::Reporter& reporter, journal::FitRecord& record) : FitSink(reporter) { refit_ = &record; }

void FitSink::take(const mk_fit_result& result) {
  journal::FitRecord fit;
  journal::FitRecord& record = refit_ != nullptr ? *refit_ : fit;
  record.note = note_of(result);
  record.curves = curves_of(result);
  if (refit_ != nullptr) return;
  if (result.index >= ids_.size()) throw Error(MK_INTERNAL, "the model reported a fit it was not given");
  if (result.status < MK_FIT_OK || result.status > MK_FIT_FAILED)
    throw Error(MK_INTERNAL, "the model reported an unknown status");
  record.fit = ids_[result.index];
  record.status = static_cast<journal::FitStatus>(result.status);
  record.n = result.n;
  if (result.values != nullptr) record.values.assign(result.values, result.values + result.n_values);
  fail_without_numbers(record);
  take_validated(result, record);
  reporter_.report(record);
}

// Fails a fit with a metric that is not finite, whatever the model reports, because such a fit has no result.
void FitSink::fail_without_numbers(journal::FitRecord& record) const {
  if (record.status == journal::FitStatus::failed) return;
  const std::vector<results::Metric> metrics = experiment_->metrics();
  for (size_t m = 0; m < std::min(metrics.size(), record.values.size()); ++m) {
    if (std::isfinite(record.values[m]) || data::find_measure(metrics[m].name) != nullptr) continue;
    record.status = journal::FitStatus::failed;
    record.note = fmt::format("its {} is {}: the training diverged", metrics[m].name, base::shortest(record.values[m]));
    return record.values.clear();
  }
}

void FitSink::take_validated(const mk_fit_result& result, journal::FitRecord& record) {
  if (table_.wants_validated == 0 || record.status == journal::FitStatus::failed) return;
  if (result.validated == nullptr && table_.wants_validated == 2) return;
  if (result.validated == nullptr) refuse("a fit without the rows that its measures need");
  const data::Dataset& data = experiment_->data();
  const size_t classes = data.class_names.size();
  check(*result.validated, result.n, data.train, classes);
  for (const double value : measured(*result.validated, result.n, data.train, classes, experiment_->measures()))
    record.values.push_back(value);
  const search::Plan& plan = experiment_->plan();
  if (predictions_ && plan.rung_of(record.fit) + 1 == plan.rungs())
    predictions_->add(*experiment_, record.fit, *result.validated, result.n);
}

}  // namespace mokume::node
