#include "results/stats.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "sdk/ill_determined.hpp"

namespace mokume::results {
namespace {

using journal::FitRecord;
using journal::FitStatus;
using Fits = std::vector<const FitRecord*>;

// Limits values: the sum of squares of larger ones would overflow, and no measurement is so large.
constexpr double kLargest = 1e100;

bool is_dropped(const FitRecord* fit) { return fit != nullptr && fit->status == FitStatus::dropped; }

// Returns the last rung in which any of the candidate's fits has been computed, or 0.
uint32_t rung_reached(const search::Plan& plan, const Fits& fits, size_t first) {
  for (uint32_t fold = plan.folds; fold-- > 0;)
    if (fits[first + fold] != nullptr && !is_dropped(fits[first + fold])) return plan.rung_of(fold);
  return 0;
}

std::optional<Moments> moments_of(const Fits& fits, size_t metric, size_t first, size_t count) {
  std::vector<double> values;
  for (size_t i = first; i < first + count; ++i)
    if (const auto value = value_of(fits[i], metric)) values.push_back(*value);
  return count > 0 && values.size() == count ? std::optional(moments(values)) : std::nullopt;
}

// Gathers the values of `count` fits of one candidate, from `first` on.
CandidateRow gather(const Fits& fits, const std::vector<Metric>& metrics, size_t first, size_t count) {
  CandidateRow row;
  const auto metric = selecting_metric(metrics);
  for (size_t i = first; i < first + count; ++i) {
    if (const auto value = value_of(fits[i], metric))
      row.values.push_back(*value);
    else
      ++(fits[i] == nullptr ? row.missing : row.failed);
    if (fits[i] == nullptr) continue;
    row.rows += fits[i]->n;
    row.unsure += unsure_rows(*fits[i]);
    row.ill_determined += is_ill_determined(*fits[i]) ? 1 : 0;
  }
  row.complete = count > 0 && row.values.size() == count;
  for (size_t m = 0; m < metrics.size(); ++m) row.each.push_back(moments_of(fits, m, first, count));
  if (row.complete && metric) static_cast<Moments&>(row) = row.each[*metric].value();
  return row;
}

// Gathers the values of one candidate in the last rung that it reached, or of `count` fits from `first` on.
CandidateRow gather_candidate(const search::Plan& plan, const Fits& fits, const std::vector<Metric>& metrics,
                              size_t first, size_t count) {
  if (plan.rungs() == 1) return gather(fits, metrics, first, count);
  const uint32_t rung = rung_reached(plan, fits, first);
  CandidateRow row = gather(fits, metrics, first + size_t{rung} * plan.folds_each(), plan.folds_each());
  row.rung = rung;
  return row;
}

void rank_by_bootstrap(std::vector<CandidateRow>& rows, const std::vector<Metric>& metrics) {
  std::vector<CandidateRow*> order;
  for (CandidateRow& row : rows) order.push_back(&row);
  const auto metric = selecting_metric(metrics);
  const auto key = [&](const CandidateRow* row) {
    return std::tuple(row->bootstrap, -static_cast<int64_t>(row->rung), !row->complete,
                      metric ? metrics[*metric].loss(row->mean) : row->mean);
  };
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  const CandidateRow* before = nullptr;
  for (CandidateRow* row : order) {
    row->rank = before != nullptr && before->bootstrap == row->bootstrap ? before->rank + 1 : 1;
    before = row;
  }
}

}  // namespace

std::optional<size_t> selecting_metric(const std::vector<Metric>& metrics) {
  for (size_t m = 0; m < metrics.size(); ++m)
    if (metrics[m].selects) return m;
  return std::nullopt;
}

std::vector<size_t> other_metrics(const std::vector<Metric>& metrics) {
  std::vector<size_t> others;
  for (size_t m = 0; m < metrics.size(); ++m)
    if (!metrics[m].integer && m != selecting_metric(metrics)) others.push_back(m);
  return others;
}

size_t failed_refits(const RunView& view) {
  size_t count = 0;
  for (const FitRecord& refit : view.refits) count += refit.status == FitStatus::failed;
  return count;
}

size_t count_fits(const RunView& view, FitStatus status) {
  size_t count = 0;
  for (const FitRecord* record : recorded(view)) count += record->status == status;
  return count;
}

bool fits_left(const RunView& view) { return view.records.size() < view.plan.n_recorded(); }

size_t count_dropped(const RunView& view) {
  const auto dropped = [](const FitRecord& record) { return record.status == FitStatus::dropped; };
  return static_cast<size_t>(std::count_if(view.records.begin(), view.records.end(), dropped));
}

size_t count_reused(const RunView& view) {
  size_t count = 0;
  for (const FitRecord* record : recorded(view)) count += record->device == journal::kReused;
  return count;
}

Fits by_fit(const search::Plan& plan, const std::vector<FitRecord>& records) {
  Fits fits(plan.n_fits(), nullptr);
  for (const FitRecord& record : records)
    if (record.fit < fits.size() && fits[record.fit] == nullptr) fits[record.fit] = &record;
  return fits;
}

Fits recorded(const RunView& view) {
  Fits fits = by_fit(view.plan, view.records);
  std::erase_if(fits, [](const FitRecord* fit) { return fit == nullptr || is_dropped(fit); });
  return fits;
}

std::optional<double> value_of(const FitRecord* record, std::optional<size_t> metric) {
  if (record == nullptr || !metric || !journal::has_result(record->status) || *metric >= record->values.size())
    return std::nullopt;
  const double value = record->values[*metric];
  return std::abs(value) <= kLargest ? std::optional(value) : std::nullopt;
}

std::vector<CandidateRow> summarise(const search::Plan& plan, const std::vector<Metric>& metrics,
                                    const std::vector<FitRecord>& records) {
  const Fits fits = by_fit(plan, records);
  std::vector<CandidateRow> rows;
  for (uint32_t c = 0; c < plan.n_candidates(); ++c) {
    for (uint32_t b = 0; b < plan.bootstraps; ++b) {
      if (!plan.has(c, b)) continue;
      rows.push_back(gather_candidate(plan, fits, metrics, plan.fit_id(c, b, 0), plan.folds));
      rows.back().candidate = c;
      rows.back().bootstrap = b;
    }
  }
  rank_by_bootstrap(rows, metrics);
  return rows;
}

namespace {

// Returns the fits of a candidate in the bootstraps in which it is a trial.
Fits fits_of_trials(const Fits& fits, size_t first, size_t count, size_t folds) {
  Fits found;
  for (size_t at = first; at < first + count; at += folds)
    if (std::any_of(&fits[at], &fits[at] + folds, [](const FitRecord* fit) { return fit != nullptr; }))
      found.insert(found.end(), &fits[at], &fits[at] + folds);
  return found;
}

}  // namespace

std::vector<CandidateRow> pool(const RunView& view) {
  const Fits fits = by_fit(view.plan, view.records);
  const uint32_t count = view.plan.fits_per_candidate();
  std::vector<CandidateRow> rows;
  for (uint32_t c = 0; c < view.plan.n_candidates(); ++c) {
    if (view.plan.trials > 0) {
      const Fits trials = fits_of_trials(fits, size_t{c} * count, count, view.plan.folds);
      rows.push_back(gather(trials, view.metrics, 0, trials.size()));
    } else {
      rows.push_back(gather_candidate(view.plan, fits, view.metrics, size_t{c} * count, count));
    }
    rows.back().candidate = c;
  }
  rank_by_bootstrap(rows, view.metrics);
  return rows;
}

int64_t unsure_rows(const FitRecord& record) {
  for (const std::string& word : base::split(record.note, ' ')) {
    if (!word.starts_with(sdk::kUnsureWord)) continue;
    int64_t rows = 0;
    const auto [end, error] = std::from_chars(word.data() + sdk::kUnsureWord.size(), word.data() + word.size(), rows);
    if (error == std::errc() && end == word.data() + word.size()) return std::clamp<int64_t>(rows, 0, record.n);
  }
  return 0;
}

bool is_ill_determined(const FitRecord& record) { return sdk::is_ill_determined(unsure_rows(record), record.n); }

std::optional<double> mean_over_folds(const RunView& view, const FitRecord& refit, size_t metric) {
  const search::Plan& plan = view.plan;
  const uint32_t bootstrap = refit.fit - plan.n_fits();
  if (!refit.refit || !plan.has(*refit.refit, bootstrap)) return std::nullopt;
  const CandidateRow row = gather_candidate(plan, by_fit(plan, view.records), view.metrics,
                                            plan.fit_id(*refit.refit, bootstrap, 0), plan.folds);
  return row.each.at(metric) ? std::optional(row.each[metric]->mean) : std::nullopt;
}

std::optional<TestResult> test_of(const FitRecord& refit, int64_t classes) {
  if (refit.status == FitStatus::failed || refit.n <= 0 || refit.values.size() != 1) return std::nullopt;
  if (classes == 0) return TestResult{0, refit.n, refit.values[0]};
  TestResult test{std::llround(refit.values[0]), refit.n};
  test.measures = refit.measures;
  test.confusion = data::checked_confusion(refit.confusion, classes, refit.n);
  return test;
}

Moments moments(const std::vector<double>& values) {
  if (values.empty()) return {};
  const double n = values.size();
  double sum = 0, squares = 0;
  Extent extent;
  for (const double value : values) sum += value, extent.add(value);
  const double mean = sum / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, n > 1 ? std::sqrt(squares / (n - 1)) : 0, extent.low, extent.high};
}

size_t majority(std::span<const uint32_t> votes, std::span<const double> certainty) {
  size_t best = 0;
  for (size_t c = 1; c < votes.size(); ++c)
    if (votes[c] > votes[best] || (votes[c] == votes[best] && certainty[c] > certainty[best])) best = c;
  return best;
}

double quantile(const std::vector<double>& sorted, double p) {
  const double at = p * (sorted.size() - 1);
  const size_t below = static_cast<size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

Box box_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  Box box{quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
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
  const double count = n;
  const double share = errors / count;
  const double scale = 1 + kZ * kZ / count;
  const double centre = (share + kZ * kZ / (2 * count)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / count + kZ * kZ / (4 * count * count));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

Interval interval_of(const TestResult& result) {
  if (result.distinct <= 0 || result.n <= 0) return wilson(result.errors, result.n);
  const double share = result.value() * static_cast<double>(result.distinct);
  return wilson(std::llround(share), result.distinct);
}

void Extent::add(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

std::vector<FitRecord> all_work(const RunView& view) {
  std::vector<FitRecord> all = view.records;
  all.insert(all.end(), view.refits.begin(), view.refits.end());
  return all;
}

bool timed(const FitRecord& record) {
  return std::abs(record.start_s) < 1e12 && std::abs(record.end_s) < 1e12 && record.end_s >= record.start_s;
}

double first_start(const std::vector<FitRecord>& records) {
  Extent starts;
  for (const FitRecord& record : records)
    if (timed(record)) starts.add(record.start_s);
  return starts.low;
}

double busy_seconds(const RunView& view) {
  std::map<std::pair<uint32_t, std::string>, std::vector<Span>> devices;
  for (const FitRecord& record : all_work(view))
    if (timed(record)) devices[{record.node, record.device}].push_back({record.start_s, record.end_s});
  double busy = 0;
  for (auto& [device, spans] : devices)
    for (const Span& span : united(std::move(spans))) busy += span.length();
  return busy;
}

std::vector<Span> united(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (!result.empty() && span.start <= result.back().end)
      result.back().end = std::max(result.back().end, span.end);
    else
      result.push_back(span);
  }
  return result;
}

double length_of(const std::vector<Span>& spans) {
  double length = 0;
  for (const Span& span : spans) length += span.length();
  return length;
}

}  // namespace mokume::results
