// Uploads the rows of an experiment, and measures the mean and deviation of training rows.
#pragma once

#include <vector>

#include "sdk/device.hpp"
#include "sdk/tensor.hpp"

namespace mokume::cnn {

// Holds all rows of an experiment in device memory.
struct ResidentData {
  // `data` must outlive the object.
  ResidentData(const sdk::Device& device, const mk_data& data);
  // Returns the bytes of device memory that `data` takes.
  static uint64_t bytes(const mk_data& data);

  const mk_data& host;
  int64_t rows, features;
  bool classifies;
  sdk::Buffer x;       // rows x features
  sdk::Buffer target;  // one label (i32) or target (f32) per row

  mk_tensor inputs() const { return sdk::matrix(x.get(), rows, features); }
  mk_tensor targets() const {
    return classifies ? sdk::vector(target.get(), rows, 0, MK_I32) : sdk::matrix(target.get(), rows, 1);
  }
};

// Holds the scaling of a network's inputs and output.
struct Moments {
  std::vector<float> feature_mean, feature_deviation;  // empty unless the first layer normalises every feature
  double target_mean = 0, target_deviation = 1;        // target = output * deviation + mean
};

// Both functions measure the given rows. A deviation is the root of the mean square difference from the mean.
void measure_features(const mk_data& data, const std::vector<int32_t>& rows, Moments& moments);
void measure_target(const mk_data& data, const std::vector<int32_t>& rows, Moments& moments);

}  // namespace mokume::cnn
