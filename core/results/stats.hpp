// Groups fits by candidate, and computes the statistics for tables and plots.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/view.hpp"

namespace mokume::results {

// Returns the index of the first metric with `selects`. Without such a metric, no candidate is complete.
std::optional<size_t> selecting_metric(const std::vector<Metric>& metrics);

// Returns the indices of the other metrics, without those that count rows.
std::vector<size_t> other_metrics(const std::vector<Metric>& metrics);

size_t failed_refits(const RunView& view);
size_t count_fits(const RunView& view, journal::FitStatus status);

size_t count_reused(const RunView& view);
bool fits_left(const RunView& view);        // returns whether the run has not computed everything
size_t count_dropped(const RunView& view);  // fits that successive halving left out

// Returns a pointer for each fit of the plan, null if the fit has no record. Leaves out records outside the plan.
std::vector<const journal::FitRecord*> by_fit(const search::Plan& plan, const std::vector<journal::FitRecord>& records);

// Returns the fits of the plan that have a record and were not dropped, in plan order.
std::vector<const journal::FitRecord*> recorded(const RunView& view);

// Returns the record's value of a metric, or nothing if the fit failed or the value is missing, not finite or absurdly
// large.
std::optional<double> value_of(const journal::FitRecord* record, std::optional<size_t> metric);

// Returns the number of validated rows for which the solver's tolerance leaves the class open, from the record's note.
int64_t unsure_rows(const journal::FitRecord& record);
bool is_ill_determined(const journal::FitRecord& record);

// Returns the mean of a metric over the folds of the refit's candidate in its bootstrap, or nothing if a fold lacks it.
std::optional<double> mean_over_folds(const RunView& view, const journal::FitRecord& refit, size_t metric);

// Returns the test result in the record of a refit (see journal::FitRecord), or nothing if there is none. `classes` is
// 0 for numbers. Leaves out a confusion matrix that contradicts the counts.
std::optional<TestResult> test_of(const journal::FitRecord& refit, int64_t classes);

// Holds the moments of values. moments() sums in the given order; the sample sd (0 for one value) takes a second pass.
struct Moments {
  double mean = 0, sd = 0, min = 0, max = 0;
};
Moments moments(const std::vector<double>& values);

// Holds the selecting metric's values over the fits of a candidate, and their moments if the candidate is complete.
struct CandidateRow : Moments {
  uint32_t candidate = 0, bootstrap = 0;
  uint32_t rung = 0;           // last rung that the candidate has reached; other members describe its fits there
  bool complete = false;       // every fit has a finite value
  uint32_t failed = 0;         // fits with a record but without a value
  uint32_t missing = 0;        // fits without a record
  uint32_t rank = 0;           // from 1 by (rung, mean, candidate), the better first; incomplete candidates come last
  std::vector<double> values;  // by bootstrap and fold
  std::vector<std::optional<Moments>> each;  // moments of every metric over these fits; nothing if a fit lacks a value
  int64_t rows = 0, unsure = 0;              // validated rows of all fits, and their unsure_rows()
  uint32_t ill_determined = 0;               // number of fits for which is_ill_determined() is true
};
// Returns a row for each candidate in each of its bootstraps, ranked within the bootstrap.
std::vector<CandidateRow> summarise(const search::Plan& plan, const std::vector<Metric>& metrics,
                                    const std::vector<journal::FitRecord>& records);
std::vector<CandidateRow> pool(const RunView& view);  // a row for each candidate over all its fits, ranked together

// Returns the class with the most votes. Ties go to the class with the higher certainty (mean or sum over members),
// then to the first. Both arguments have an entry per class.
size_t majority(std::span<const uint32_t> votes, std::span<const double> certainty);

// Interpolates linearly between order statistics, as NumPy does by default ("linear", type 7 of Hyndman & Fan, The
// American Statistician 50(4), 1996). `sorted` must be ascending and not empty, and 0 <= p <= 1.
double quantile(const std::vector<double>& sorted, double p);

// Describes Tukey's box. The whiskers end at the most extreme value within 1.5 interquartile ranges of the box.
struct Box {
  double q1 = 0, median = 0, q3 = 0, low = 0, high = 0;
};
Box box_of(std::vector<double> values);

// Holds Wilson's 95 % score interval for a proportion (Wilson, JASA 22(158), 1927), or {0, 1} without rows.
struct Interval {
  double low = 0, high = 1;
};
Interval wilson(int64_t errors, int64_t n);
// Returns the interval of a classifier's share of errors. Rows that count more than once do not narrow it.
Interval interval_of(const TestResult& result);

struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value);
  bool empty() const { return low > high; }
  bool spans(double ratio) const { return low > 0 && high / low >= ratio; }
};

std::vector<journal::FitRecord> all_work(const RunView& view);

// Returns whether the record has a usable start and end.
bool timed(const journal::FitRecord& record);

// Returns the earliest start of a fit, or infinity if no fit took time.
double first_start(const std::vector<journal::FitRecord>& records);

// Returns the sum of the devices' busy seconds. Each device is busy in the union of the intervals of its fits and
// refits, so fits of one bundle, which have the bundle's interval, count once.
double busy_seconds(const RunView& view);

// united() returns disjoint spans in ascending order that cover the same points. It joins spans that touch.
struct Span {
  double start = 0, end = 0;
  double length() const { return end - start; }
};
std::vector<Span> united(std::vector<Span> spans);
double length_of(const std::vector<Span>& spans);

}  // namespace mokume::results
