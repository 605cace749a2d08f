#include "record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace mokume::cnn {

Score sum_up(std::span<const float> results, double unit) {
  Score s;
  for (size_t r = 0; r + 1 < results.size(); r += 2) {
    s.loss += results[r];
    s.hits += results[r + 1] > 0 ? 1 : 0;
    ++s.rows;
  }
  if (s.rows > 0) s.loss /= s.rows;
  s.loss *= unit;
  return s;
}

std::string progress_text(int64_t epoch, int64_t epochs, const Score& recent, bool classifies, double rows_per_s) {
  std::array<char, 32> right{};
  if (classifies && recent.rows > 0)
    std::snprintf(right.data(), right.size(), ", %.1f %% right", 100 * recent.accuracy());
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "epoch %ld/%ld: loss %.4g%s, %.0f rows/s", epoch, epochs, recent.loss,
                right.data(), rows_per_s);
  return text.data();
}

void Record::add_epoch(const Score& trained) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  diverged = !std::isfinite(trained.loss);
  history.train_loss.push_back(diverged ? kNone : trained.loss);
  if (classifies) history.train_accuracy.push_back(diverged ? kNone : trained.accuracy());
}

void Record::add_validation(const Score& validated) {
  validation = validated;
  history.validation_loss.push_back(validation.loss);
  if (classifies) history.validation_accuracy.push_back(validation.accuracy());
  diverged = !std::isfinite(validation.loss);  // in the last steps of the epoch
}

void Record::apply_rule() {
  const std::vector<double>& train = history.train_loss;
  const std::vector<double>& loss = history.validation_loss.empty() ? train : history.validation_loss;
  const size_t patience = rule.patience;
  stopped = false;
  if (diverged) return;
  if (rule.kind == StopRule::Kind::ratio)
    stopped = train.size() > 1 && train.back() > rule.ratio * train[train.size() - 2];
  if (rule.kind == StopRule::Kind::plateau && loss.size() > patience) {
    const auto recent = loss.end() - patience;
    stopped = *std::min_element(recent, loss.end()) >= *std::min_element(loss.begin(), recent) - rule.min_delta;
  }
}

}  // namespace mokume::cnn
