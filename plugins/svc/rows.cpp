#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "sdk/error.hpp"

namespace mokume::svc {

RowOrder::RowOrder(const mk_experiment& experiment, uint32_t bootstrap) {
  const mk_data& data = *experiment.train;
  const mk_sample& sample = experiment.samples[bootstrap];
  features_ = data.features;
  classes_ = data.n_classes;
  const auto fold_of = [&](int64_t i) { return experiment.n_folds == 0 ? 0 : sample.fold_of[i]; };
  const auto label_of = [&](int64_t i) { return regression() ? 0 : data.labels[sample.row[i]]; };
  std::vector<int64_t> places(static_cast<size_t>(sample.places));
  std::iota(places.begin(), places.end(), int64_t{0});
  std::sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
    return std::tuple(fold_of(a), label_of(a), a) < std::tuple(fold_of(b), label_of(b), b);
  });
  original_.reserve(places.size());
  labels_.reserve(places.size());
  fold_begin_.assign(std::max<size_t>(experiment.n_folds, 1) + 1, 0);
  for (const int64_t i : places) {
    original_.push_back(sample.row[i]);
    labels_.push_back(label_of(i));
    ++fold_begin_[static_cast<size_t>(fold_of(i)) + 1];
  }
  std::partial_sum(fold_begin_.begin(), fold_begin_.end(), fold_begin_.begin());
  take_targets(data);
  take_weights(data);
}

void RowOrder::take_targets(const mk_data& data) {
  if (!regression()) return;
  for (const int64_t row : original_) target_mean_ += double{data.targets[row]};
  target_mean_ /= static_cast<double>(rows());
  for (const int64_t row : original_) {
    const double target = double{data.targets[row]} - target_mean_;
    targets_.push_back(static_cast<float>(target));
    largest_target_ = std::max(largest_target_, std::fabs(target));
  }
}

void RowOrder::take_weights(const mk_data& data) {
  if (data.weights == nullptr) return;
  for (const int64_t row : original_) weights_.push_back(data.weights[row]);
}

double RowOrder::target_deviation(int32_t fold) const {
  const auto for_each_target = [&](const auto& take) {
    for (int64_t r = 0; r < rows(); ++r)
      if (fold == MK_ALL_ROWS || r < fold_begin(static_cast<uint32_t>(fold)) ||
          r >= fold_begin(static_cast<uint32_t>(fold) + 1))
        take(double{targets_[static_cast<size_t>(r)]});
  };
  double sum = 0, count = 0, squares = 0;
  for_each_target([&](double target) {
    sum += target;
    ++count;
  });
  if (count == 0) return 1;
  for_each_target([&](double target) { squares += (target - sum / count) * (target - sum / count); });
  return squares > 0 ? std::sqrt(squares / count) : 1;
}

std::vector<BinaryProblem> binary_problems(int32_t classes, Multiclass multiclass, int32_t fold) {
  std::vector<BinaryProblem> problems;
  if (classes == 0 || classes == 2) return {{fold, 0, 1}};
  for (int32_t a = 0; a < classes; ++a) {
    if (multiclass == Multiclass::one_vs_rest) problems.push_back({fold, a, BinaryProblem::kRest});
    if (multiclass == Multiclass::one_vs_one)
      for (int32_t b = a + 1; b < classes; ++b) problems.push_back({fold, a, b});
  }
  return problems;
}

std::vector<BinaryProblem> weighted_problems(int32_t classes, const Settings& settings, int32_t fold) {
  if (settings.kind == Kind::one_class) return {{fold, 0, BinaryProblem::kOrigin}};
  std::vector<BinaryProblem> problems = binary_problems(classes, settings.multiclass, fold);
  if (settings.class_weights.empty()) return problems;
  for (BinaryProblem& problem : problems) {
    problem.positive_weight = settings.class_weights[static_cast<size_t>(problem.positive)];
    problem.negative_weight = settings.class_weights[static_cast<size_t>(problem.negative)];
  }
  return problems;
}

int32_t predict_class(const float* decisions, int32_t classes, Multiclass multiclass) {
  if (classes == 2) return decisions[0] > 0 ? 0 : 1;
  if (multiclass == Multiclass::one_vs_rest)
    return static_cast<int32_t>(std::max_element(decisions, decisions + classes) - decisions);
  std::vector<int32_t> votes(static_cast<size_t>(classes), 0);
  for (int32_t a = 0, at = 0; a < classes; ++a)
    for (int32_t b = a + 1; b < classes; ++b, ++at) ++votes[static_cast<size_t>(decisions[at] > 0 ? a : b)];
  return static_cast<int32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

int32_t predict_class(const float* decisions, int32_t classes, const Settings& settings) {
  if (settings.kind == Kind::one_class) return decisions[0] >= 0 ? 0 : 1;
  return predict_class(decisions, classes, settings.multiclass);
}

bool is_unsure(const float* decisions, int32_t classes, Multiclass multiclass, float open) {
  if (classes == 2) return std::fabs(decisions[0]) <= open;
  const int32_t winner = predict_class(decisions, classes, multiclass);
  if (multiclass == Multiclass::one_vs_rest) {
    for (int32_t k = 0; k < classes; ++k)
      if (k != winner && decisions[winner] - decisions[k] <= 2 * open) return true;
    return false;
  }
  // The votes of each class lie between `least` and `most`.
  std::vector<int32_t> least(static_cast<size_t>(classes), 0), most(static_cast<size_t>(classes), 0);
  for (int32_t a = 0, at = 0; a < classes; ++a)
    for (int32_t b = a + 1; b < classes; ++b, ++at) {
      const float d = decisions[at];
      least[static_cast<size_t>(d > 0 ? a : b)] += std::fabs(d) > open ? 1 : 0;
      most[static_cast<size_t>(a)] += d > -open ? 1 : 0;
      most[static_cast<size_t>(b)] += d < open ? 1 : 0;
    }
  for (int32_t k = 0; k < classes; ++k)
    if (k != winner && most[static_cast<size_t>(k)] >= least[static_cast<size_t>(winner)]) return true;
  return false;
}

namespace {

// Collects ascending ranges of blocks.
class Spans {
 public:
  void cover(int64_t row) {
    const auto block = static_cast<int32_t>(row / kBlock);
    if (!ranges_.empty() && block <= ranges_.back()[1])
      ranges_.back()[1] = std::max(ranges_.back()[1], block + 1);
    else
      ranges_.push_back({block, block + 1});
  }

  // Closes the smallest gaps if there are too many ranges. Rows in a gap have sign 0 and change nothing.
  void write(int32_t* spans) {
    const auto gap = [&](size_t k) { return ranges_[k + 1][0] - ranges_[k][1]; };
    while (ranges_.size() >= kMaxSpans) {
      size_t best = 0;
      for (size_t k = 1; k + 1 < ranges_.size(); ++k)
        if (gap(k) < gap(best)) best = k;
      ranges_[best][1] = ranges_[best + 1][1];
      ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    for (const auto& [first, last] : ranges_) {
      *spans++ = first;
      *spans++ = last;
    }
    spans[0] = -1;
    spans[1] = -1;
  }

 private:
  std::vector<std::array<int32_t, 2>> ranges_;
};

// Returns the sign of a row with this label in a binary problem, or 0 if the problem does not contain the class.
int sign_of(const BinaryProblem& problem, int32_t label) {
  if (problem.negative == BinaryProblem::kOrigin) return 1;
  if (label == problem.positive) return problem.sign();
  return problem.negative == BinaryProblem::kRest || label == problem.negative ? -problem.sign() : 0;
}

}  // namespace

int32_t mark_rows(const RowOrder& order, const BinaryProblem& problem, int8_t* sign, int32_t* spans) {
  std::fill(sign, sign + order.stride(), int8_t{0});
  Spans ranges;
  int64_t first = -1;
  const bool all = problem.fold == MK_ALL_ROWS;
  const int64_t left_out = all ? 0 : order.fold_begin(static_cast<uint32_t>(problem.fold));
  const int64_t left_out_end = all ? 0 : left_out + order.fold_rows(static_cast<uint32_t>(problem.fold));
  for (int64_t r = 0; r < order.rows(); ++r) {
    if (r >= left_out && r < left_out_end) continue;
    const int y = order.regression() ? 1 : sign_of(problem, order.label(r));
    if (y == 0 || order.weight(r) == 0) continue;  // with weight 0, no multiplier can move
    ranges.cover(r);
    sign[r] = static_cast<int8_t>(y);
    if (y > 0 && (first < 0 || order.original(r) > order.original(first))) first = r;
  }
  ranges.write(spans);
  return order.regression() ? -1 : static_cast<int32_t>(first);
}

mk_score_kind score_kind(Multiclass multiclass, int64_t classes) {
  return multiclass == Multiclass::one_vs_rest && classes > 2 ? MK_SCORES_ONE_VS_REST : MK_SCORES_ONE_VS_ONE;
}

}  // namespace mokume::svc
