#include "run/eta.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace mokume::run {
namespace {

// Once this share of the work has followed the first fit, the time before it, which includes loading, does not count.
constexpr double kEnough = 0.02;

}  // namespace

Eta::Eta(std::vector<double> costs, uint64_t slots, const std::vector<journal::FitRecord>& done, double now_s,
         const std::vector<double>& chances)
    : costs_(std::move(costs)), start_s_(now_s) {
  const double sum = std::accumulate(costs_.begin(), costs_.end(), 0.0);
  if (!(sum > 0)) costs_.assign(costs_.size(), 1);
  const double mean = sum > 0 ? sum / static_cast<double>(costs_.size()) : 1;
  costs_.resize(slots, mean);
  double slots_left = 0;
  for (size_t slot = 0; slot < costs_.size(); ++slot) {
    const double chance = slot < chances.size() ? chances[slot] : 1;
    slots_left += chance;
    left_cost_ += chance * costs_[slot];
  }
  left_ = static_cast<uint64_t>(std::llround(slots_left));
  total_ = left_cost_;
  for (const journal::FitRecord& one : done) {
    left_cost_ -= cost(one.fit);
    left_ -= left_ > 0 ? 1 : 0;
  }
}

void Eta::done(uint32_t fit, double now_s) {
  left_ -= left_ > 0 ? 1 : 0;
  left_cost_ -= cost(fit);
  done_cost_ += cost(fit);
  if (first_s_) return;
  first_s_ = now_s;
  first_cost_ = done_cost_;
}

std::optional<double> Eta::seconds_left(double now_s, double running, double gained) const {
  if (left_ == 0) return 0;
  const double mean = left_cost_ / static_cast<double>(left_);
  const double left = std::max(0.0, left_cost_ - running * mean);
  const double done = done_cost_ + gained * mean, since_first = done - first_cost_;
  if (done <= 0 || now_s - start_s_ < 1) return std::nullopt;
  if (first_s_ && now_s > *first_s_ && since_first >= kEnough * total_) return (now_s - *first_s_) / since_first * left;
  return (now_s - start_s_) / done * left;
}

}  // namespace mokume::run
