#include "report/tables/stats.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace mokume::report {
namespace {

// Beyond this a sum of squares overflows; such a value is no measurement.
constexpr double kLargest = 1e100;

// Ranks from 1 by (complete first, mean, index) over the rows that `group` holds, as indices into `rows`.
template <class Row>
void rank_rows(std::vector<Row>& rows, std::vector<size_t> group) {
  std::stable_sort(group.begin(), group.end(), [&](size_t a, size_t b) {
    if (rows[a].complete != rows[b].complete) return rows[a].complete;
    return rows[a].complete && rows[a].mean < rows[b].mean;
  });
  for (size_t i = 0; i < group.size(); ++i) rows[group[i]].rank = static_cast<uint32_t>(i + 1);
}

}  // namespace

std::optional<size_t> selecting_metric(const std::vector<Metric>& metrics) {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [](const Metric& m) { return m.selects; });
  if (found == metrics.end()) return std::nullopt;
  return static_cast<size_t>(found - metrics.begin());
}

size_t failed_refits(const RunView& view) {
  return static_cast<size_t>(std::count_if(view.refits.begin(), view.refits.end(), [](const auto& refit) {
    return refit.status == journal::FitStatus::failed;
  }));
}

std::vector<const journal::FitRecord*> by_fit(const search::Plan& plan,
                                              const std::vector<journal::FitRecord>& records) {
  std::vector<const journal::FitRecord*> fits(plan.n_fits(), nullptr);
  for (const auto& record : records) {
    if (record.fit < fits.size() && fits[record.fit] == nullptr) fits[record.fit] = &record;
  }
  return fits;
}

std::optional<double> value_of(const journal::FitRecord* record, std::optional<size_t> metric) {
  if (record == nullptr || !metric || record->status == journal::FitStatus::failed) return std::nullopt;
  if (*metric >= record->values.size()) return std::nullopt;
  const double value = record->values[*metric];
  if (!(std::abs(value) <= kLargest)) return std::nullopt;
  return value;
}

std::vector<CandidateRow> summarise(const search::Plan& plan, const std::vector<Metric>& metrics,
                                    const std::vector<journal::FitRecord>& records) {
  const auto fits = by_fit(plan, records);
  const auto metric = selecting_metric(metrics);
  std::vector<CandidateRow> rows;
  std::vector<std::vector<size_t>> of_bootstrap(plan.bootstraps);
  for (uint32_t c = 0; c < plan.n_candidates(); ++c) {
    for (uint32_t b = 0; b < plan.bootstraps; ++b) {
      if (!plan.has(c, b)) continue;
      CandidateRow row;
      row.candidate = c;
      row.bootstrap = b;
      std::vector<double> values;
      for (uint32_t f = 0; f < plan.folds; ++f) {
        const auto value = value_of(fits[plan.fit_id(c, b, f)], metric);
        if (value) values.push_back(*value);
      }
      row.complete = plan.folds > 0 && values.size() == plan.folds;
      if (row.complete) {
        const Moments m = moments(values);
        row.mean = m.mean, row.sd = m.sd, row.min = m.min, row.max = m.max;
      }
      of_bootstrap[b].push_back(rows.size());
      rows.push_back(row);
    }
  }
  for (auto& group : of_bootstrap) rank_rows(rows, std::move(group));
  return rows;
}

std::optional<double> mean_over_folds(const RunView& view, const journal::FitRecord& refit, size_t metric) {
  const uint32_t bootstrap = refit.fit - view.plan.n_fits();
  if (!refit.refit || view.plan.folds == 0 || !view.plan.has(*refit.refit, bootstrap)) return std::nullopt;
  const auto fits = by_fit(view.plan, view.records);
  std::vector<double> values;
  for (uint32_t fold = 0; fold < view.plan.folds; ++fold)
    if (const auto value = value_of(fits[view.plan.fit_id(*refit.refit, bootstrap, fold)], metric))
      values.push_back(*value);
  return values.size() == view.plan.folds ? std::optional(moments(values).mean) : std::nullopt;
}

std::optional<TestResult> test_of(const journal::FitRecord& refit, bool classes) {
  if (refit.status == journal::FitStatus::failed || refit.n <= 0 || refit.values.size() != 1) return std::nullopt;
  if (!classes) return TestResult{0, refit.n, refit.values[0]};
  return TestResult{std::llround(refit.values[0]), refit.n, std::nullopt};
}

std::vector<Pooled> pool(const RunView& view) {
  const auto fits = by_fit(view.plan, view.records);
  const auto metric = selecting_metric(view.metrics);
  const size_t per_candidate = view.plan.fits_per_candidate();
  std::vector<Pooled> result(view.plan.candidates.size());
  for (size_t c = 0; c < result.size(); ++c) {
    Pooled& row = result[c];
    for (size_t i = 0; i < per_candidate; ++i) {
      const journal::FitRecord* record = fits[c * per_candidate + i];
      const auto value = value_of(record, metric);
      if (value)
        row.values.push_back(*value);
      else
        ++(record == nullptr ? row.missing : row.failed);
    }
    row.complete = per_candidate > 0 && row.values.size() == per_candidate;
    if (!row.complete) continue;
    const Moments m = moments(row.values);
    row.mean = m.mean, row.sd = m.sd;
  }
  std::vector<size_t> all(result.size());
  std::iota(all.begin(), all.end(), size_t{0});
  rank_rows(result, std::move(all));
  return result;
}

Moments moments(const std::vector<double>& values) {
  Moments m;
  if (values.empty()) return m;
  double sum = 0;
  for (const double value : values) sum += value;
  m.mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - m.mean) * (value - m.mean);
  if (values.size() > 1) m.sd = std::sqrt(squares / static_cast<double>(values.size() - 1));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  m.min = *low, m.max = *high;
  return m;
}

double quantile(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

Box box_of(std::vector<double> values) {
  Box box;
  if (values.empty()) return box;
  std::sort(values.begin(), values.end());
  box.q1 = quantile(values, 0.25);
  box.median = quantile(values, 0.5);
  box.q3 = quantile(values, 0.75);
  const double reach = 1.5 * (box.q3 - box.q1);
  box.low = box.q1, box.high = box.q3;
  for (const double value : values) {
    if (value >= box.q1 - reach) box.low = std::min(box.low, value);
    if (value <= box.q3 + reach) box.high = std::max(box.high, value);
  }
  return box;
}

Interval wilson(int64_t errors, int64_t n) {
  if (n <= 0 || errors < 0 || errors > n) return {};
  constexpr double kZ = 1.959963984540054;  // the normal distribution's 97.5 % point
  const double count = static_cast<double>(n);
  const double share = static_cast<double>(errors) / count;
  const double scale = 1 + kZ * kZ / count;
  const double centre = (share + kZ * kZ / (2 * count)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / count + kZ * kZ / (4 * count * count));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

bool timed(const journal::FitRecord& record) {
  return std::isfinite(record.start_s) && std::isfinite(record.end_s) && record.end_s >= record.start_s &&
         std::abs(record.start_s) < 1e12 && std::abs(record.end_s) < 1e12;
}

std::vector<Span> united(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (!result.empty() && span.start <= result.back().end) {
      result.back().end = std::max(result.back().end, span.end);
    } else {
      result.push_back(span);
    }
  }
  return result;
}

std::vector<journal::FitRecord> all_work(const RunView& view) {
  std::vector<journal::FitRecord> all = view.records;
  all.insert(all.end(), view.refits.begin(), view.refits.end());
  return all;
}

double busy_seconds(const std::vector<journal::FitRecord>& records) {
  std::map<std::pair<uint32_t, std::string>, std::vector<Span>> devices;
  for (const auto& record : records) {
    if (timed(record)) devices[{record.node, record.device}].push_back({record.start_s, record.end_s});
  }
  double busy = 0;
  for (auto& [device, spans] : devices) {
    for (const Span& span : united(std::move(spans))) busy += span.end - span.start;
  }
  return busy;
}

}  // namespace mokume::report
