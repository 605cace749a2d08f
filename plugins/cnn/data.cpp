#include "data.hpp"

#include <cmath>

namespace mokume::cnn {

ResidentData::ResidentData(const sdk::Device& device, const mk_data& data)
    : host(data), rows(data.rows), features(data.features), classifies(data.n_classes > 0) {
  const auto phase = device.phase("load");
  x = device.buffer<float>(rows * features);
  device.write(x, data.x, rows * features);
  target = device.buffer<float>(rows);
  if (classifies)
    device.write(target, data.labels, rows);
  else
    device.write(target, data.targets, rows);
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
