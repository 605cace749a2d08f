// The rows of an experiment on a device, and the moments of the rows that a training learns from.
#pragma once

#include <vector>

#include "sdk/device.hpp"
#include "sdk/tensor.hpp"

namespace mokume::cnn {

// Every row of an experiment in the device's memory.
struct ResidentData {
  // `data` must outlive it.
  ResidentData(const sdk::Device& device, const mk_data& data);
  // Bytes of device memory that it takes.
  static uint64_t bytes(const mk_data& data);

  const mk_data& host;
  int64_t rows, features;
  bool classifies;
  sdk::Buffer x;       // rows x features
  sdk::Buffer target;  // labels (i32) or targets (f32), one per row

  mk_tensor inputs() const { return sdk::matrix(x.get(), rows, features); }
  mk_tensor targets() const {
    return classifies ? sdk::vector(target.get(), rows, 0, MK_I32) : sdk::matrix(target.get(), rows, 1);
  }
};

// The scale of a network's inputs and of its output.
struct Moments {
  std::vector<float> feature_mean, feature_deviation;  // empty unless the first layer normalises every feature
  double target_mean = 0, target_deviation = 1;        // target = output * deviation + mean
};

// Those of these rows, with deviations over n, as PyTorch's normalise takes them.
void measure_features(const mk_data& data, const std::vector<int32_t>& rows, Moments& moments);
void measure_target(const mk_data& data, const std::vector<int32_t>& rows, Moments& moments);

}  // namespace mokume::cnn
