#include "scheduler/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace mokume::scheduler {
namespace {

// Limits the comparisons between candidates and observed candidates in one learn().
constexpr size_t kMostComparisons = size_t{1} << 22;
constexpr size_t kFewestCompared = 16;
// A speed measured before the run counts like this many observations of the same candidate.
constexpr double kPriorSpeedWeight = 1;
constexpr double kNoPriorWeight = 0.1;
// A running attempt changes an estimate once its time exceeds the estimate by this factor.
constexpr double kSurprise = 1.25;

bool usable(double number) { return std::isfinite(number) && number > 0; }

struct Weighted {
  double value, weight;
};

double median(std::vector<Weighted> values) {
  std::sort(values.begin(), values.end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double total = 0;
  for (const Weighted& one : values) total += one.weight;
  double below = 0;
  for (const Weighted& one : values) {
    below += one.weight;
    if (2 * below >= total) return one.value;
  }
  return 0;
}

// Returns at most `most` elements, evenly spread.
template <class T>
std::vector<T> thinned(std::vector<T> all, size_t most) {
  if (all.size() <= most) return all;
  for (size_t k = 0; k < most; ++k) all[k] = all[k * all.size() / most];
  all.resize(most);
  return all;
}

}  // namespace

CostModel::CostModel(const std::vector<Position>& positions, std::vector<double> guesses,
                     const std::vector<double>& speeds) {
  longest_guess_ = 0;
  for (const double guess : guesses)
    if (usable(guess)) longest_guess_ = std::max(longest_guess_, guess);
  if (longest_guess_ == 0) longest_guess_ = 1;
  for (uint32_t fit = 0; fit < guesses.size(); ++fit)
    add_fit(fit < positions.size() ? positions[fit] : Position{0, 0, {static_cast<double>(fit)}}, guesses[fit]);
  if (!positions.empty()) {
    std::vector<std::set<double>> values(positions.front().point.size());
    for (const Position& place : positions)
      for (size_t d = 0; d < std::min(values.size(), place.point.size()); ++d) values[d].insert(place.point[d]);
    dimensions_ = static_cast<size_t>(
        std::count_if(values.begin(), values.end(), [](const auto& different) { return different.size() > 1; }));
  }
  for (const double speed : speeds) add_class(speed);
}

uint32_t CostModel::add_fit(const Position& place, double guess) {
  const auto next = static_cast<uint32_t>(points_.size());
  const auto [found, is_new] = candidate_at_.emplace(place.point, next);
  if (is_new) {
    points_.push_back(place.point);
    seen_.emplace_back();
    at_least_.push_back(-std::numeric_limits<double>::infinity());
    neighbours_.push_back(neighbours_.empty() ? 0 : neighbours_.back());
  }
  candidate_.push_back(found->second);
  guesses_.push_back(usable(guess) ? guess : longest_guess_);
  own_.push_back(-1);
  return static_cast<uint32_t>(guesses_.size() - 1);
}

void CostModel::replace_fit(uint32_t fit, uint32_t like, double guess) {
  candidate_[fit] = candidate_[like];
  guesses_[fit] = usable(guess) ? guess : longest_guess_;
}

uint32_t CostModel::add_class(double speed) {
  priors_.push_back(usable(speed) ? speed : 0);
  double sum = 0, known = 0;
  for (const double prior : priors_) {
    sum += prior;
    known += prior > 0 ? 1 : 0;
  }
  speeds_.push_back(usable(speed) ? speed : known > 0 ? sum / known : 1);
  return static_cast<uint32_t>(speeds_.size() - 1);
}

void CostModel::observe(uint32_t device_class, std::span<const uint32_t> fits, double seconds) {
  if (!usable(seconds) || fits.empty()) return;
  if (observations_.empty()) yardstick_ = device_class;
  double together = 0;
  for (const uint32_t fit : fits) together += work(fit);
  const double log_share = std::log(seconds / together);
  std::vector<double> log_ratios;  // based on the estimates before this observation
  for (const uint32_t fit : fits) log_ratios.push_back(log_share + log_work_ratio(fit));
  for (size_t k = 0; k < fits.size(); ++k) {
    const uint32_t fit = fits[k];
    if (own_[fit] >= 0) {
      observations_[static_cast<size_t>(own_[fit])] = {fit, device_class, log_ratios[k]};
      continue;
    }
    own_[fit] = static_cast<int64_t>(observations_.size());
    seen_[candidate_[fit]].push_back(static_cast<uint32_t>(observations_.size()));
    observations_.push_back({fit, device_class, log_ratios[k]});
  }
  if (16 * observations_.size() >= 17 * learned_from_) learn();
}

double CostModel::log_work_ratio(uint32_t fit) const {
  const auto ratio = [&](const Observation& seen) { return seen.log_ratio + std::log(speeds_[seen.device_class]); };
  if (own_[fit] >= 0) return ratio(observations_[static_cast<size_t>(own_[fit])]);
  const std::vector<uint32_t>& others = seen_[candidate_[fit]];
  if (others.empty()) return neighbours_[candidate_[fit]];
  double sum = 0;
  for (const uint32_t other : others) sum += ratio(observations_[other]);
  return sum / static_cast<double>(others.size());
}

double CostModel::work(uint32_t fit) const { return guesses_[fit] * std::exp(log_work_ratio(fit)); }

void CostModel::running(uint32_t device_class, std::span<const uint32_t> fits, double seconds) {
  if (!knows_seconds() || !usable(seconds)) return;
  double together = 0;
  for (const uint32_t fit : fits) together += work(fit);
  const double log_share = std::log(seconds * speeds_[device_class] / together);
  for (const uint32_t fit : fits) {
    const uint32_t candidate = candidate_[fit];
    if (has_seen(candidate)) continue;
    const double ratio = log_share + log_work_ratio(fit);
    if (ratio < std::max(neighbours_[candidate], at_least_[candidate]) + std::log(kSurprise)) continue;
    at_least_[candidate] = ratio;
    ++version_;
  }
}

double CostModel::work_by_running(uint32_t fit) const {
  const uint32_t candidate = candidate_[fit];
  return has_seen(candidate) ? work(fit) : std::max(work(fit), guesses_[fit] * std::exp(at_least_[candidate]));
}

double CostModel::at_speed_one(const Sight& sight) const {
  return sight.log_ratio + std::log(speeds_[sight.device_class]);
}

// Returns the weight of one candidate's observations for the other. The weight has heavy tails: far from all
// observations, the nearest one dominates.
double CostModel::closeness(uint32_t a, uint32_t b) const {
  if (a == b) return 1;
  if (dimensions_ == 0) return 0;
  double distance2 = 0;
  const size_t n = std::min(points_[a].size(), points_[b].size());
  for (size_t d = 0; d < n; ++d) distance2 += (points_[a][d] - points_[b][d]) * (points_[a][d] - points_[b][d]);
  const double near = 1 / (1 + distance2 / width2_);
  return near * near * near * near;
}

std::vector<CostModel::Sight> CostModel::sights() const {
  std::vector<Sight> found;
  for (uint32_t c = 0; c < seen_.size(); ++c) {
    std::map<uint32_t, std::pair<double, double>> by_class;
    for (const uint32_t k : seen_[c]) {
      auto& [sum, count] = by_class[observations_[k].device_class];
      sum += observations_[k].log_ratio;
      count += 1;
    }
    for (const auto& [device_class, mean] : by_class) found.push_back({c, device_class, mean.first / mean.second});
  }
  return found;
}

void CostModel::learn() {
  const std::vector<Sight> all = sights();
  const double across =
      std::pow(static_cast<double>(all.size()), -1.0 / static_cast<double>(std::max<size_t>(1, dimensions_)));
  width2_ = across * across;
  const size_t compared = std::max(kFewestCompared, kMostComparisons / std::max<size_t>(1, points_.size()));
  const std::vector<Sight> some = thinned(all, compared);
  if (speeds_.size() > 1) learn_speeds(some);
  learn_neighbours(some);
  learned_from_ = observations_.size();
  ++version_;
}

// Learns the speed of a class from candidates that other classes have also observed, or from similar candidates.
void CostModel::learn_speeds(const std::vector<Sight>& sights) {
  for (uint32_t k = 0; k < speeds_.size(); ++k) {
    if (k == yardstick_) continue;
    std::vector<Weighted> logs = {{std::log(speeds_[k]), priors_[k] > 0 ? kPriorSpeedWeight : kNoPriorWeight}};
    if (priors_[k] > 0) logs.front().value = std::log(priors_[k]);
    for (const Sight& mine : sights) {
      if (mine.device_class != k) continue;
      double sum = 0, weights = 0;
      for (const Sight& other : sights) {
        if (other.device_class == k) continue;
        const double weight = closeness(mine.candidate, other.candidate);
        sum += weight * at_speed_one(other);
        weights += weight;
      }
      if (weights > 0) logs.push_back({sum / weights - mine.log_ratio, std::min(1.0, weights)});
    }
    if (logs.size() > 1) speeds_[k] = std::exp(median(std::move(logs)));
  }
}

void CostModel::learn_neighbours(const std::vector<Sight>& sights) {
  std::vector<Weighted> everywhere;
  for (const Sight& one : sights) everywhere.push_back({at_speed_one(one), 1});
  const double scale = median(everywhere);
  constexpr double kScaleWeight = 1e-6;  // matters only without any neighbours
  for (uint32_t c = 0; c < points_.size(); ++c) {
    if (!seen_[c].empty()) continue;
    if (dimensions_ == 0) {  // without coordinates, no candidate is near another
      neighbours_[c] = scale;
      continue;
    }
    double sum = kScaleWeight * scale, weights = kScaleWeight;
    for (const Sight& one : sights) {
      const double weight = closeness(c, one.candidate);
      sum += weight * at_speed_one(one);
      weights += weight;
    }
    neighbours_[c] = sum / weights;
  }
}

}  // namespace mokume::scheduler
