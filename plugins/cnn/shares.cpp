#include "shares.hpp"

#include <algorithm>
#include <utility>

namespace mokume::cnn {
namespace {

constexpr double kNew = 0.5;    // weight of the last measurement
constexpr double kGain = 1.05;  // that new shares must promise

double time_of(const Shares& shares, const std::vector<double>& speeds) {
  double longest = 0;
  for (size_t k = 0; k < shares.size(); ++k) longest = std::max(longest, double(shares[k]) / speeds[k]);
  return longest;
}

}  // namespace

Shares split(int64_t units, const std::vector<double>& speeds) {
  Shares shares(speeds.size());
  const auto end_with_one_more = [&](size_t k) { return double(shares[k] + 1) / speeds[k]; };
  for (int64_t u = 0; u < units; ++u) {
    size_t best = 0;
    for (size_t k = 1; k < speeds.size(); ++k)
      if (end_with_one_more(k) < end_with_one_more(best)) best = k;
    ++shares[best];
  }
  return shares;
}

bool is_better(const Shares& next, const Shares& now, const std::vector<double>& speeds) {
  return time_of(next, speeds) * kGain < time_of(now, speeds);
}

std::string text_of(const Shares& shares) {
  std::string text;
  for (const int64_t s : shares) text += (text.empty() ? "" : "+") + std::to_string(s);
  return text;
}

Speeds::Speeds(std::vector<double> first) : now_(std::move(first)) {
  if (std::any_of(now_.begin(), now_.end(), [](double s) { return !(s > 0); })) now_.assign(now_.size(), 1);
}

void Speeds::measure(const std::vector<int64_t>& units, const std::vector<double>& seconds) {
  if (!std::exchange(warm_, true)) return;
  // Speeds from before are in another unit: they still say how fast those members are that had nothing to do.
  double known = 0, shown = 0;
  std::vector<double> measured(now_.size());
  for (size_t k = 0; k < now_.size(); ++k) {
    if (units[k] <= 0 || !(seconds[k] > 0)) continue;
    measured[k] = double(units[k]) / seconds[k];
    known += now_[k];
    shown += measured[k];
  }
  if (!(shown > 0)) return;
  for (size_t k = 0; k < now_.size(); ++k) {
    if (!measured_) now_[k] *= shown / known;
    if (measured[k] > 0) now_[k] = measured_ ? kNew * measured[k] + (1 - kNew) * now_[k] : measured[k];
  }
  measured_ = true;
}

std::optional<size_t> Backoff::next(const Shares& shares) {
  std::optional<size_t> tried;
  for (size_t k = 0; k < shares.size(); ++k) {
    if (shares[k] > 0)
      idle_[k] = 0;
    else if (++idle_[k] >= wait_[k] && !tried)
      tried = k;
  }
  if (tried) wait_[*tried] *= 2;
  return tried;
}

}  // namespace mokume::cnn
