#include "search/trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "sdk/philox.hpp"
#include "sdk/portable.hpp"

namespace mokume::search {
namespace {

constexpr size_t kRandomTrials = 10;  // the first ones, which no result guides
constexpr double kBestShare = 0.1;    // share of the results that count as the best
constexpr size_t kMostBest = 25;
constexpr double kWidth = 0.2;  // width of a kernel around a single result, if the range of the parameter is 1
constexpr uint32_t kMostCompared = 2048;  // candidates from which a trial is chosen
constexpr double kNowhere = std::numeric_limits<double>::quiet_NaN();

double number(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  return kNowhere;
}

bool is_number(const Value& value) { return !std::isnan(number(value)); }

// Returns where a drawn value lies between the ends of its distribution, from 0 to 1.
double place_in(const Space& space, double value) {
  const bool logarithm = space.kind == Space::Kind::log10_uniform || space.kind == Space::Kind::integer_log;
  const bool exponents = space.kind == Space::Kind::log10_uniform;
  const double low = logarithm && !exponents ? sdk::portable::log10(space.low) : space.low;
  const double high = logarithm && !exponents ? sdk::portable::log10(space.high) : space.high;
  const double at = logarithm ? sdk::portable::log10(value) : value;
  return high > low ? std::clamp((at - low) / (high - low), 0.0, 1.0) : 0.5;
}

// Rounds a value of the library to its first digits, in which all libraries agree.
double rounded(double value) { return static_cast<double>(static_cast<float>(value)); }

// Returns how much of a normal distribution lies between 0 and 1.
double normal_mass(double center, double width) {
  const double root = width * std::sqrt(2.0);
  return 0.5 * (std::erf((1 - center) / root) + std::erf(center / root));
}

}  // namespace

// Averages the kernels around results and an even density, so that the density is positive everywhere.
class TrialChooser::Density {
 public:
  Density(const TrialChooser& chooser, std::vector<uint32_t> centers)
      : chooser_(chooser), values_(chooser.values_), centers_(std::move(centers)) {
    const auto n = static_cast<double>(std::max<size_t>(centers_.size(), 1));
    const double width = rounded(kWidth * std::pow(n, -1 / (static_cast<double>(values_.size()) + 4)));  // Scott's rule
    narrowness_ = 1 / width;
    const double norm = width * std::sqrt(2 * std::numbers::pi);
    for (const uint32_t center : centers_)
      for (size_t p = 0; p < values_.size(); ++p)
        at_center_.push_back(values_[p] > 0 ? (n + 1) / (n + values_[p])
                                            : rounded(1 / (norm * normal_mass(chooser.places(center)[p], width))));
    for (const uint32_t values : values_) elsewhere_.push_back(1 / (n + values));
  }

  double at(const double* place) const {
    double sum = 1;
    for (size_t p = 0; p < values_.size(); ++p)
      if (values_[p] > 0 && !std::isnan(place[p])) sum /= values_[p];
    for (size_t i = 0; i < centers_.size(); ++i) sum += kernel(i, place);
    return sum / static_cast<double>(centers_.size() + 1);
  }

 private:
  // A result in which a parameter does not count tells nothing about its values: the kernel is even there.
  double kernel(size_t i, const double* place) const {
    const double *center = chooser_.places(centers_[i]), *peak = at_center_.data() + i * values_.size();
    double product = 1, squares = 0;
    for (size_t p = 0; p < values_.size(); ++p) {
      if (std::isnan(place[p])) continue;
      if (std::isnan(center[p])) {
        product /= values_[p] > 0 ? values_[p] : 1;
      } else if (values_[p] > 0) {
        product *= place[p] == center[p] ? peak[p] : elsewhere_[p];
      } else {
        const double distance = (place[p] - center[p]) * narrowness_;
        product *= peak[p];
        squares += distance * distance;
      }
    }
    return product * sdk::portable::exp(-0.5 * squares);
  }

  const TrialChooser& chooser_;
  const std::vector<uint32_t>& values_;
  const std::vector<uint32_t> centers_;
  double narrowness_ = 1;
  std::vector<double> at_center_;  // by center and parameter: the kernel's factor at its center
  std::vector<double> elsewhere_;  // by parameter: the factor at any other value without order
};

TrialChooser::TrialChooser(const std::vector<Space>& spaces, const Plan& plan, uint32_t bootstrap, uint64_t seed)
    : first_(plan.own_candidates * bootstrap),
      count_(plan.own_candidates > 0 ? plan.own_candidates : plan.n_candidates()),
      order_(count_) {
  place(spaces, plan);
  std::iota(order_.begin(), order_.end(), first_);
  const sdk::Random random(seed, sdk::Purpose::trials, bootstrap);
  for (uint32_t i = count_; i > 1; --i) std::swap(order_[i - 1], order_[random.below(i, i)]);
}

// A list of numbers is placed by rank, so that its spacing sets the scale, as the user chose it.
void TrialChooser::place(const std::vector<Space>& spaces, const Plan& plan) {
  places_.assign(size_t{count_} * spaces.size(), kNowhere);
  for (size_t p = 0; p < spaces.size(); ++p) {
    const Space& space = spaces[p];
    const bool list = space.kind == Space::Kind::list;
    std::vector<Value> values = space.values;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const bool ordered = !list || std::all_of(values.begin(), values.end(), is_number);
    values_.push_back(ordered ? 0 : static_cast<uint32_t>(values.size()));
    for (uint32_t c = 0; c < count_; ++c) {
      if (!plan.counts(first_ + c, p)) continue;
      const Value& value = plan.candidates[first_ + c][p];
      double& at = places_[size_t{c} * spaces.size() + p];
      if (!list) {
        at = place_in(space, number(value));
        continue;
      }
      const auto found = std::lower_bound(values.begin(), values.end(), value);
      const auto rank = static_cast<double>(found - values.begin());
      at = !ordered ? rank : values.size() > 1 ? rank / static_cast<double>(values.size() - 1) : 0.5;
    }
  }
}

uint32_t TrialChooser::next(const std::vector<Result>& results, const std::vector<uint32_t>& pending) const {
  std::vector<bool> chosen(count_);
  for (const Result& result : results) chosen[result.candidate - first_] = true;
  for (const uint32_t candidate : pending) chosen[candidate - first_] = true;
  if (results.size() + pending.size() < kRandomTrials || results.empty())
    return *std::find_if(order_.begin(), order_.end(), [&](uint32_t c) { return !chosen[c - first_]; });
  std::vector<Result> sorted = results;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
  const auto share = static_cast<size_t>(std::ceil(kBestShare * static_cast<double>(sorted.size())));
  std::vector<uint32_t> best, others = pending;  // a pending trial must not be proposed again, nor its neighbors
  for (size_t i = 0; i < sorted.size(); ++i)
    (i < std::min(share, kMostBest) ? best : others).push_back(sorted[i].candidate);
  const Density near_best(*this, std::move(best)), near_others(*this, std::move(others));
  // With many candidates, each trial compares others of them.
  const size_t trial = results.size() + pending.size(), begin = trial * kMostCompared % count_;
  uint32_t found = first_, compared = 0;
  double most = -1;
  for (uint32_t i = 0; i < count_ && compared < kMostCompared; ++i) {
    const uint32_t c = order_[(begin + i) % count_];
    if (chosen[c - first_]) continue;
    ++compared;
    const double ratio = near_best.at(places(c)) / near_others.at(places(c));
    if (ratio > most) most = ratio, found = c;
  }
  return found;
}

}  // namespace mokume::search
