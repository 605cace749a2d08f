#include "data/measures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "sdk/portable_math.hpp"

namespace mokume::data {
namespace {

constexpr std::array<MeasureInfo, 10> kMeasures = {{
    {Measure::balanced_error, "balanced_error", false, Needs::classes},
    {Measure::precision, "precision", true, Needs::classes},
    {Measure::recall, "recall", true, Needs::classes},
    {Measure::f1, "f1", true, Needs::classes},
    {Measure::auc, "auc", true, Needs::scores},
    {Measure::log_loss, "log_loss", false, Needs::probabilities},
    {Measure::rmse, "rmse", false, Needs::numbers},
    {Measure::mae, "mae", false, Needs::numbers},
    {Measure::r2, "r2", true, Needs::numbers},
    {Measure::explained_variance, "explained_variance", true, Needs::numbers},
}};

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

template <class Of>
double mean_over_classes(const Confusion& confusion, const Of& of) {
  double sum = 0;
  int64_t count = 0;
  for (size_t c = 0; c < confusion.classes; ++c) {
    if (confusion.rows_of(c) + confusion.predicted_as(c) == 0) continue;
    sum += of(confusion, c);
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// Returns the AUC of one class against all others, computed from ranks. Ties share their mean rank.
std::optional<double> auc_of_class(std::span<const int32_t> labels, std::span<const double> scores, size_t classes,
                                   size_t c) {
  const auto score = [&](size_t row) { return scores[row * classes + c]; };
  std::vector<size_t> order(labels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return score(a) < score(b); });
  double ranks = 0, inside = 0;
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    size_t members = 0;
    while (end < order.size() && score(order[end]) == score(order[first]))
      members += static_cast<size_t>(labels[order[end++]]) == c ? 1 : 0;
    ranks += static_cast<double>(members) * (static_cast<double>(first + end - 1) / 2 + 1);
    inside += static_cast<double>(members);
  }
  const double outside = static_cast<double>(labels.size()) - inside;
  if (inside == 0 || outside == 0) return std::nullopt;
  return (ranks - inside * (inside + 1) / 2) / (inside * outside);
}

bool has_nan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

}  // namespace

int64_t Confusion::rows_of(size_t truth) const {
  const auto row = counts.begin() + static_cast<ptrdiff_t>(truth * classes);
  return std::accumulate(row, row + static_cast<ptrdiff_t>(classes), int64_t{0});
}

int64_t Confusion::predicted_as(size_t predicted) const {
  int64_t sum = 0;
  for (size_t truth = 0; truth < classes; ++truth) sum += at(truth, predicted);
  return sum;
}

Confusion count_confusion(std::span<const int32_t> labels, std::span<const int32_t> predicted, size_t classes) {
  Confusion confusion{classes, std::vector<int64_t>(classes * classes)};
  for (size_t r = 0; r < labels.size(); ++r)
    ++confusion.counts[static_cast<size_t>(labels[r]) * classes + static_cast<size_t>(predicted[r])];
  return confusion;
}

std::optional<Confusion> checked_confusion(const std::vector<int64_t>& counts, int64_t classes, int64_t rows) {
  const auto side = static_cast<size_t>(std::max<int64_t>(0, classes));
  if (side == 0 || counts.size() % side != 0 || counts.size() / side != side) return std::nullopt;
  int64_t sum = 0;
  for (const int64_t count : counts) {
    if (count < 0 || count > rows - sum) return std::nullopt;
    sum += count;
  }
  return sum == rows ? std::optional(Confusion{side, counts}) : std::nullopt;
}

double recall(const Confusion& confusion, size_t c) { return share(confusion.at(c, c), confusion.rows_of(c)); }
double precision(const Confusion& confusion, size_t c) { return share(confusion.at(c, c), confusion.predicted_as(c)); }
double f1(const Confusion& confusion, size_t c) {
  return share(2 * confusion.at(c, c), confusion.rows_of(c) + confusion.predicted_as(c));
}

double balanced_error(const Confusion& confusion) {
  double sum = 0;
  int64_t count = 0;
  for (size_t c = 0; c < confusion.classes; ++c) {
    if (confusion.rows_of(c) == 0) continue;
    sum += recall(confusion, c);
    ++count;
  }
  return count == 0 ? 0 : 1 - sum / static_cast<double>(count);
}

std::optional<double> auc(std::span<const int32_t> labels, std::span<const double> scores, size_t classes) {
  if (classes < 2 || scores.size() != labels.size() * classes || has_nan(scores)) return std::nullopt;
  // With two classes, both have the same AUC.
  if (classes == 2) return auc_of_class(labels, scores, classes, 1);
  double sum = 0;
  for (size_t c = 0; c < classes; ++c) {
    const auto one = auc_of_class(labels, scores, classes, c);
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum / static_cast<double>(classes);
}

std::optional<double> log_loss(std::span<const int32_t> labels, std::span<const double> probabilities, size_t classes) {
  if (labels.empty() || probabilities.size() != labels.size() * classes || has_nan(probabilities)) return std::nullopt;
  double sum = 0;
  for (size_t r = 0; r < labels.size(); ++r)
    sum -= sdk::portable::log(
        std::max(probabilities[r * classes + static_cast<size_t>(labels[r])], std::numeric_limits<double>::epsilon()));
  return sum / static_cast<double>(labels.size());
}

std::span<const MeasureInfo> all_measures() { return kMeasures; }

const MeasureInfo* find_measure(std::string_view name) {
  const auto found =
      std::find_if(kMeasures.begin(), kMeasures.end(), [&](const auto& one) { return name == one.name; });
  return found == kMeasures.end() ? nullptr : &*found;
}

double value_of(Measure measure, const Confusion& confusion) {
  switch (measure) {
    case Measure::balanced_error:
      return balanced_error(confusion);
    case Measure::precision:
      return mean_over_classes(confusion, precision);
    case Measure::recall:
      return mean_over_classes(confusion, recall);
    case Measure::f1:
      return mean_over_classes(confusion, f1);
    case Measure::auc:
    case Measure::log_loss:
    case Measure::rmse:
    case Measure::mae:
    case Measure::r2:
    case Measure::explained_variance:
      break;  // these require scores or numbers
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> value_of(Measure measure, std::span<const float> targets, std::span<const float> predicted) {
  const auto n = static_cast<double>(targets.size());
  if (targets.empty()) return std::nullopt;
  double mean = 0, off = 0, absolute = 0, squared = 0;
  for (size_t r = 0; r < targets.size(); ++r) {
    const double residual = double{targets[r]} - double{predicted[r]};
    mean += double{targets[r]} / n;
    off += residual / n;
    absolute += std::abs(residual) / n;
    squared += residual * residual / n;
  }
  if (measure == Measure::rmse) return std::sqrt(squared);
  if (measure == Measure::mae) return absolute;
  double variance = 0;
  for (const float target : targets) variance += (double{target} - mean) * (double{target} - mean) / n;
  if (variance == 0) return std::nullopt;
  if (measure == Measure::r2) return 1 - squared / variance;
  if (measure == Measure::explained_variance) return 1 - (squared - off * off) / variance;
  return std::nullopt;
}

}  // namespace mokume::data
