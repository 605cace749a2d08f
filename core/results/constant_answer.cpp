#include "results/constant_answer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/measures.hpp"

namespace mokume::results {
namespace {

size_t most_frequent(const std::vector<int64_t>& rows) {
  return static_cast<size_t>(std::max_element(rows.begin(), rows.end()) - rows.begin());
}

double entropy(const std::vector<int64_t>& rows, double total) {
  double sum = 0;
  for (const int64_t of_class : rows)
    if (of_class > 0) sum -= static_cast<double>(of_class) / total * std::log(static_cast<double>(of_class) / total);
  return sum;
}

}  // namespace

std::optional<double> constant_answer(const RunView& view, const std::string& metric) {
  if (view.data_classes == 0) {
    if (metric == "mse") return view.guess;
    if (metric == "rmse" && view.guess) return std::sqrt(*view.guess);
    return metric == "r2" || metric == "explained_variance" ? std::optional(0.0) : std::nullopt;
  }
  if (metric == "error") return view.guess;
  if (metric == "auc") return 0.5;
  const std::vector<int64_t>& rows = view.class_rows;
  const auto total = static_cast<double>(std::accumulate(rows.begin(), rows.end(), int64_t{0}));
  if (rows.empty() || !(total > 0)) return std::nullopt;
  if (metric == "log_loss" || metric == "loss") return entropy(rows, total);
  const data::MeasureInfo* measure = data::find_measure(metric);
  if (measure == nullptr || rows.size() > data::kMostConfusedClasses) return std::nullopt;
  data::Confusion confusion{rows.size(), std::vector<int64_t>(rows.size() * rows.size())};
  for (size_t c = 0; c < rows.size(); ++c) confusion.counts[c * rows.size() + most_frequent(rows)] = rows[c];
  return data::value_of(measure->measure, confusion);
}

std::optional<double> constant_answer_on_test(const RunView& view) {
  const std::vector<int64_t>& rows = view.class_rows;
  if (!view.test || view.test->n == 0 || !view.test->confusion || rows.size() != view.test->confusion->classes)
    return view.guess;
  const int64_t right = view.test->confusion->rows_of(most_frequent(rows));
  return 1 - static_cast<double>(right) / static_cast<double>(view.test->n);
}

std::optional<size_t> only_class(const TestResult& test) {
  if (!test.confusion || test.n == 0) return std::nullopt;
  for (size_t c = 0; c < test.confusion->classes; ++c)
    if (test.confusion->predicted_as(c) == test.n && test.confusion->rows_of(c) < test.n) return c;
  return std::nullopt;
}

}  // namespace mokume::results
