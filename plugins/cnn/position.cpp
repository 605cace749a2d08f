#include "position.hpp"

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

double Position::share_done() const { return (epoch + double(batch) / batches()) / settings_.epochs; }

int64_t Position::step() const {
  return epoch * steps() + std::min(step_of_epoch.value_or(batch / workers), steps() - 1);
}

ops::OptimizerSettings Position::optimizer() const {
  ops::OptimizerSettings now = settings_.optimizer;
  now.lr = learning_rate(settings_.schedule, now.lr, {step(), steps(), settings_.epochs, reductions});
  return now;
}

}  // namespace mokume::cnn
