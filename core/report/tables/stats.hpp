// Fits gathered per candidate, and the few statistics that tables and plots need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/view.hpp"

namespace mokume::report {

// The place of the metric that selects (the first marked so); none: no candidate can be ranked.
std::optional<size_t> selecting_metric(const std::vector<Metric>& metrics);

size_t failed_refits(const RunView& view);

// One pointer per fit of the plan, null where there is no record. Records outside the plan are left out.
std::vector<const journal::FitRecord*> by_fit(const search::Plan& plan, const std::vector<journal::FitRecord>& records);

// The record's finite value of a metric; none if failed, missing, not finite or absurdly large.
std::optional<double> value_of(const journal::FitRecord* record, std::optional<size_t> metric);

// The mean of a metric over the folds of the candidate that a refit trains, in its bootstrap; none if one has no value.
std::optional<double> mean_over_folds(const RunView& view, const journal::FitRecord& refit, size_t metric);

// A candidate over all its folds and bootstraps, in that order (bootstrap by bootstrap).
struct Pooled {
  bool complete = false;       // every fit has a finite value
  uint32_t failed = 0;         // fits with a record but without a value
  uint32_t missing = 0;        // fits without a record
  double mean = 0, sd = 0;     // of `values`; only if complete
  std::vector<double> values;  // what there is
  uint32_t rank = 0;           // from 1 by (mean, index); incomplete ones last
};
std::vector<Pooled> pool(const RunView& view);

// Mean in the order given, sample standard deviation (0 for one value) in two passes.
struct Moments {
  double mean = 0, sd = 0, min = 0, max = 0;
};
Moments moments(const std::vector<double>& values);

// Linear interpolation between order statistics, NumPy's default ("linear", type 7 of Hyndman & Fan, The American
// Statistician 50(4), 1996). `sorted` ascending and not empty, 0 <= p <= 1.
double quantile(const std::vector<double>& sorted, double p);

// Tukey's box: whiskers end at the most extreme value within 1.5 interquartile ranges of the box.
struct Box {
  double q1 = 0, median = 0, q3 = 0, low = 0, high = 0;
};
Box box_of(std::vector<double> values);

// Wilson's 95 % score interval for a proportion. Wilson, JASA 22(158), 1927. {0, 1} for n <= 0.
struct Interval {
  double low = 0, high = 1;
};
Interval wilson(int64_t errors, int64_t n);

// Fits and refits.
std::vector<journal::FitRecord> all_work(const RunView& view);

// Seconds during which a device worked: per (node, device), the union of its fits' intervals. Fits of one bundle carry
// the bundle's time and so count once.
double busy_seconds(const std::vector<journal::FitRecord>& records);

// A record with a usable start and end.
bool timed(const journal::FitRecord& record);

// Disjoint intervals in ascending order that cover the same points. Touching ones are joined.
struct Span {
  double start = 0, end = 0;
};
std::vector<Span> united(std::vector<Span> spans);

}  // namespace mokume::report
