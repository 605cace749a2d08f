#include "data.hpp"

#include <cmath>

namespace mokume::cnn {

ResidentData::ResidentData(const sdk::Device& device, const mk_data& data)
    : host(data), rows(data.rows), features(data.features), classifies(data.n_classes > 0), device_(device) {}

void ResidentData::write_inputs() const {
  const auto phase = device_.phase("load");
  if (!x_) x_ = device_.buffer<float>(rows * features);
  device_.write(*x_, host.x, rows * features);
}

mk_tensor ResidentData::inputs() const {
  if (!x_) write_inputs();
  return sdk::matrix(x_->get(), rows, features);
}

mk_tensor ResidentData::targets() const {
  if (!target_) {
    const auto phase = device_.phase("load");
    target_ = device_.buffer<float>(rows);
    if (classifies)
      device_.write(*target_, host.labels, rows);
    else
      device_.write(*target_, host.targets, rows);
  }
  return classifies ? sdk::vector(target_->get(), rows, 0, MK_I32) : sdk::matrix(target_->get(), rows, 1);
}

uint64_t ResidentData::bytes(const mk_data& data) { return data.rows * (data.features + 1) * sizeof(float); }

void measure_features(const mk_data& data, const std::vector<int32_t>& rows, Moments& moments) {
  const size_t d = data.features;
  const double n = rows.size();
  std::vector<double> mean(d), square(d);
  for (const int32_t r : rows)
    for (size_t f = 0; f < d; ++f) mean[f] += data.x[r * d + f];
  for (double& m : mean) m /= n;
  for (const int32_t r : rows)
    for (size_t f = 0; f < d; ++f) {
      const double difference = data.x[r * d + f] - mean[f];
      square[f] += difference * difference;
    }
  moments.feature_mean.assign(mean.begin(), mean.end());
  for (const double s : square) moments.feature_deviation.push_back(std::sqrt(s / n));
}

void measure_target(const mk_data& data, const std::vector<int32_t>& rows, Moments& moments) {
  const double n = rows.size();
  double sum = 0, square = 0;
  for (const int32_t r : rows) sum += data.targets[r];
  moments.target_mean = sum / n;
  for (const int32_t r : rows) {
    const double difference = data.targets[r] - moments.target_mean;
    square += difference * difference;
  }
  moments.target_deviation = square > 0 ? std::sqrt(square / n) : 1;
}

}  // namespace mokume::cnn
