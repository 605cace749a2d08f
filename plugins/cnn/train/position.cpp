#include "train/position.hpp"

#include <algorithm>

namespace mokume::cnn {

int64_t Position::batches() const {
  const int64_t size = settings_.batch_size;
  return settings_.drop_last ? rows_ / size : (rows_ + size - 1) / size;
}

RowRange Position::range() const {
  const int64_t first = batch * settings_.batch_size;
  return {first, std::min(settings_.batch_size, rows_ - first)};
}

int64_t Position::rows_done() const { return std::min(batch * settings_.batch_size, rows_); }

double Position::share_done() const { return (epoch + double(batch) / batches()) / settings_.last_epoch(); }

int64_t Position::step() const {
  return epoch * steps() + std::min(step_of_epoch.value_or(batch / settings_.accumulate / workers), steps() - 1);
}

int64_t Position::batches_of_step() const {
  const int64_t first = batch / settings_.accumulate * settings_.accumulate;
  return std::min(settings_.accumulate, batches() - first);
}

ops::OptimizerSettings Position::optimizer() const {
  ops::OptimizerSettings now = settings_.optimizer;
  now.lr = rate(now.lr);
  return now;
}

double Position::muon_lr() const { return rate(settings_.muon.lr); }

double Position::rate(double base) const {
  return learning_rate(settings_.schedule, base, {step(), steps(), settings_.epochs, reductions});
}

}  // namespace mokume::cnn
