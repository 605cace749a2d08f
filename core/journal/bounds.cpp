#include "journal/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "data/measures.hpp"
#include "sdk/error.hpp"

namespace mokume::journal {
namespace {

[[noreturn]] void out_of_range(const std::string& what) { throw Error(MK_BAD_DATA, what); }

bool is_whole(double value) { return std::isfinite(value) && std::floor(value) == value; }

void check_times_and_curves(const FitRecord& record) {
  if (!std::isfinite(record.start_s) || !std::isfinite(record.end_s))
    out_of_range(fmt::format("its times are {} to {}", base::shortest(record.start_s), base::shortest(record.end_s)));
  constexpr double kMostJoules = 1e15;  // a power station needs weeks for it
  if (record.energy_j && !(*record.energy_j >= 0 && *record.energy_j <= kMostJoules))
    out_of_range(fmt::format("its energy is {} J", base::shortest(*record.energy_j)));
  if (record.curves.size() > kMaxCurves)
    out_of_range(fmt::format("it has {} curves, at most {} are allowed", record.curves.size(), kMaxCurves));
  for (size_t c = 0; c < record.curves.size(); ++c) {
    const Curve& curve = record.curves[c];
    if (c > 0 && curve.name == record.curves[c - 1].name)
      out_of_range(fmt::format("it has two curves named '{}'", curve.name));
    if (!is_curve_name(curve.name)) out_of_range(fmt::format("a curve has the name {}", base::quoted_json(curve.name)));
    if (curve.values.size() > kMaxCurveValues)
      out_of_range(fmt::format("the curve '{}' has {} values", curve.name, curve.values.size()));
  }
}

void check_errors(double errors, int64_t n) {
  if (!is_whole(errors) || errors < 0 || errors > static_cast<double>(n))
    out_of_range(fmt::format("'errors' is {}, of {} rows", base::shortest(errors), n));
}

void check_measure(const std::string& name, double value) {
  const data::MeasureInfo* const known = data::find_measure(name);
  if (known == nullptr) return;  // a measure of a newer version
  const bool share = known->needs != data::Needs::numbers && known->measure != data::Measure::log_loss;
  const double most = share || known->larger_is_better ? 1 : INFINITY;
  const double least = known->needs == data::Needs::numbers && known->larger_is_better ? -INFINITY : 0;
  // Sums of shares may exceed 1 by rounding.
  if (!(value >= least) || value > most + 1e-9) out_of_range(fmt::format("'{}' is {}", name, base::shortest(value)));
}

void check_value(const Bounds::Metric& metric, double value, const FitRecord& record, bool classes) {
  if (data::find_measure(metric.name) != nullptr) {
    if (!std::isnan(value)) check_measure(metric.name, value);  // NaN stands for an undefined measure
    return;
  }
  const bool whole = !metric.integer || is_whole(value);
  if (!std::isfinite(value) || !whole) out_of_range(fmt::format("'{}' is {}", metric.name, base::shortest(value)));
  if (classes && metric.name == "errors") check_errors(value, record.n);
  if (classes && metric.name == "error" && (value < 0 || value > 1 + 1e-6))
    out_of_range(fmt::format("'error' is {}, and it is a share of the rows", base::shortest(value)));
  if (metric.name == "mse" && value < 0) out_of_range(fmt::format("'mse' is {}", base::shortest(value)));
}

// Checks that a classifier's number of errors and its share of errors match.
void check_share(const FitRecord& record, const std::vector<Bounds::Metric>& metrics) {
  const auto value_of = [&](const char* name) {
    for (size_t m = 0; m < record.values.size(); ++m)
      if (metrics[m].name == name) return record.values[m];
    return std::nan("");
  };
  const double errors = value_of("errors"), share = value_of("error");
  const auto n = static_cast<double>(record.n);
  // A share computed in float32 is exact to 2^-24.
  if (std::abs(errors - share * n) > 1e-6 * n)
    out_of_range(fmt::format("'error' is {}, but {} of {} rows are wrong", base::shortest(share), errors, record.n));
}

void check_confusion(const FitRecord& refit, int64_t classes) {
  if (refit.confusion.empty()) return;
  const auto confusion = data::checked_confusion(refit.confusion, classes, refit.n);
  if (!confusion)
    out_of_range(
        fmt::format("'confusion' is no matrix of {} classes whose counts add up to {} rows", classes, refit.n));
  int64_t hits = 0;
  for (size_t c = 0; c < confusion->classes; ++c) hits += confusion->at(c, c);
  if (static_cast<double>(refit.n - hits) != refit.values.front())
    out_of_range(fmt::format("'confusion' counts {} errors, but 'values' says {}", refit.n - hits,
                             base::shortest(refit.values.front())));
}

void check_test(const FitRecord& refit, int64_t classes) {
  if (refit.values.size() != 1) out_of_range(fmt::format("'values' has {} values instead of one", refit.values.size()));
  const double value = refit.values.front();
  if (!std::isfinite(value) || value < 0) out_of_range(fmt::format("'values' is {}", base::shortest(value)));
  if (classes > 0)
    check_errors(value, refit.n);
  else if (!refit.measures.empty())
    out_of_range("it has measures of classes, and the targets are numbers");
  check_confusion(refit, classes);
  for (const auto& [name, measure] : refit.measures) check_measure(name, measure);
}

}  // namespace

bool is_curve_name(const std::string& name) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\'; };
  return !name.empty() && name.size() <= kMaxCurveName && std::all_of(name.begin(), name.end(), plain);
}

void check_fit(const FitRecord& record, const Bounds& bounds) {
  check_times_and_curves(record);
  if (record.n < 0 || record.n > bounds.rows)
    out_of_range(fmt::format("'n' is {}, and there are {} training rows", record.n, bounds.rows));
  if (!has_result(record.status) || !bounds.metrics) return;
  if (record.n == 0) out_of_range("'n' is 0, and every fit validates at least one row");
  if (record.values.empty() || record.values.size() > bounds.metrics->size())
    out_of_range(
        fmt::format("'values' has {} values, and there are {} metrics", record.values.size(), bounds.metrics->size()));
  for (size_t m = 0; m < record.values.size(); ++m)
    check_value((*bounds.metrics)[m], record.values[m], record, bounds.classes.value_or(0) > 0);
  check_share(record, *bounds.metrics);
}

void check_refit(const FitRecord& record, const Bounds& bounds) {
  check_times_and_curves(record);
  const bool failed = record.status == FitStatus::failed;
  const bool tested = record.n > 0 || !record.values.empty();
  if (record.n < 0 || (!failed && tested && bounds.test_rows && record.n != *bounds.test_rows))
    out_of_range(fmt::format("'n' is {}, and there are {} test rows", record.n, bounds.test_rows.value_or(0)));
  if (failed || !bounds.classes) return;
  if (record.n == 0 && (tested || !record.confusion.empty() || !record.measures.empty()))
    out_of_range("'n' is 0, and it has results of test rows");
  if (tested) check_test(record, *bounds.classes);
}

}  // namespace mokume::journal
