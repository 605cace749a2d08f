// Fits gathered per candidate, and the few statistics that tables and plots need.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "report/view.hpp"

namespace mokume::report {

// The index of the metric that selects (the first marked so). Without one no candidate can be ranked.
std::optional<size_t> selecting_metric(const std::vector<Metric>& metrics);

size_t failed_refits(const RunView& view);
size_t count_fits(const RunView& view, journal::FitStatus status);

// One pointer per fit of the plan, null where there is no record. Records outside the plan are left out.
std::vector<const journal::FitRecord*> by_fit(const search::Plan& plan, const std::vector<journal::FitRecord>& records);

// The fits of the plan that have a record, in the plan's order.
std::vector<const journal::FitRecord*> recorded(const RunView& view);

// The record's value of a metric; none if the fit failed or the value is missing, not finite or absurdly large.
std::optional<double> value_of(const journal::FitRecord* record, std::optional<size_t> metric);

// The mean of a metric over the folds of the candidate that a refit trains, in its bootstrap; none if a fold has no
// value.
std::optional<double> mean_over_folds(const RunView& view, const journal::FitRecord& refit, size_t metric);

// The result of a refit, whose record has the form that journal::FitRecord describes.
std::optional<TestResult> test_of(const journal::FitRecord& refit, bool classes);

// Mean in the order given, sample standard deviation (0 for one value) in two passes.
struct Moments {
  double mean = 0, sd = 0, min = 0, max = 0;
};
Moments moments(const std::vector<double>& values);

// The values that the metric that selects has over the fits of a candidate; the moments are set if it is complete.
struct CandidateRow : Moments {
  uint32_t candidate = 0, bootstrap = 0;
  bool complete = false;       // every fit has a finite value
  uint32_t failed = 0;         // fits with a record but without a value
  uint32_t missing = 0;        // fits without a record
  uint32_t rank = 0;           // from 1 by (mean, candidate); incomplete ones come last
  std::vector<double> values;  // by bootstrap and fold
};
// A row for each candidate in each of its bootstraps, ranked within the bootstrap.
std::vector<CandidateRow> summarise(const search::Plan& plan, const std::vector<Metric>& metrics,
                                    const std::vector<journal::FitRecord>& records);
// A row for each candidate over all its bootstraps.
std::vector<CandidateRow> pool(const RunView& view);

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

// The smallest and the largest of the values added.
struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value);
  bool empty() const { return low > high; }
  bool spans(double ratio) const { return low > 0 && high / low >= ratio; }
};

// Fits and refits.
std::vector<journal::FitRecord> all_work(const RunView& view);

// Whether the record has a usable start and end.
bool timed(const journal::FitRecord& record);

// The earliest start of a fit; infinity if no fit took time.
double first_start(const std::vector<journal::FitRecord>& records);

// Seconds during which devices worked: per (node, device), the union of the intervals of its fits and refits. Fits of
// one bundle carry the bundle's time and so count once.
double busy_seconds(const RunView& view);

// Disjoint intervals in ascending order that cover the same points. Touching ones are joined.
struct Span {
  double start = 0, end = 0;
  double length() const { return end - start; }
};
std::vector<Span> united(std::vector<Span> spans);
double length_of(const std::vector<Span>& spans);

}  // namespace mokume::report
