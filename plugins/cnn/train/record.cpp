#include "train/record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace mokume::cnn {

Score sum_up(std::span<const float> results, double unit, double square_unit, std::span<const float> weights) {
  Score s;
  double weight = 0;
  for (size_t r = 0; r + 1 < results.size(); r += 2) {
    s.loss += results[r];
    s.squares += results[r + 1];
    if (!weights.empty()) weight += weights[r / 2];
    s.hits += results[r + 1] > 0 ? 1 : 0;
    ++s.rows;
  }
  if (s.rows > 0) s.squares /= s.rows;
  if (weights.empty()) weight = s.rows;
  if (weight > 0) s.loss /= weight;
  s.loss *= unit;
  s.squares *= square_unit;
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
  if (!classifies && (rule.restore_best || rule.monitor == "validation_mse"))
    history.validation_squares.push_back(validation.squares);
  diverged = !std::isfinite(validation.loss);  // the last steps of the epoch may have diverged
}

std::vector<double> Record::monitored() const {
  const bool validated = !history.validation_loss.empty() && !rule.monitor.starts_with("train");
  if (rule.monitor.ends_with("accuracy")) {
    std::vector<double> errors = validated ? history.validation_accuracy : history.train_accuracy;
    for (double& e : errors) e = -e;
    return errors;
  }
  if (validated && rule.monitor == "validation_mse") return history.validation_squares;
  return validated ? history.validation_loss : history.train_loss;
}

void Record::add_start(const Score& validated) {
  validation = validated;
  diverged = !std::isfinite(validation.loss);
}

int64_t Record::best_epoch() const {
  const std::vector<double> losses = monitored();
  int64_t best = -1;
  for (int64_t e = 0; e < int64_t(losses.size()); ++e)
    if (std::isfinite(losses[e]) && (best < 0 || losses[e] < losses[best])) best = e;
  return best;
}

Score Record::validated() const {
  const int64_t best = best_epoch();
  const size_t measured = (classifies ? history.validation_accuracy : history.validation_squares).size();
  if (!rule.restore_best || best < 0 || measured != size_t(epochs())) return validation;
  Score s{history.validation_loss[best], 0, 0, validation.rows};
  if (classifies) s.hits = std::llround(history.validation_accuracy[best] * s.rows);
  if (!classifies) s.squares = history.validation_squares[best];
  return s;
}

namespace {

// Returns how many epochs at the end have each improved by less than `min_delta` on the best epoch before them.
size_t epochs_without_progress(const std::vector<double>& losses, double min_delta) {
  size_t count = 0;
  double best = std::numeric_limits<double>::infinity();
  for (const double loss : losses) {
    count = loss > best - min_delta ? count + 1 : 0;
    best = std::min(best, loss);
  }
  return count;
}

}  // namespace

void Record::apply_rule() {
  const std::vector<double>& train = history.train_loss;
  const std::vector<double> loss = monitored();
  const size_t patience = rule.patience;
  stopped = false;
  if (diverged) return;
  if (rule.kind == StopRule::Kind::ratio)
    stopped = train.size() > 1 && train.back() > rule.ratio * train[train.size() - 2];
  if (rule.kind == StopRule::Kind::plateau && rule.per_epoch) {
    stopped = epochs_without_progress(loss, rule.min_delta) >= patience;
  } else if (rule.kind == StopRule::Kind::plateau && loss.size() > patience) {
    const auto recent = loss.end() - patience;
    stopped = *std::min_element(recent, loss.end()) >= *std::min_element(loss.begin(), recent) - rule.min_delta;
  }
}

}  // namespace mokume::cnn
