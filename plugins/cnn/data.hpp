// Uploads the rows of an experiment, and measures the mean and deviation of training rows.
#pragma once

#include <optional>
#include <vector>

#include "sdk/device.hpp"
#include "sdk/tensor.hpp"

namespace mokume::cnn {

// Holds all rows of an experiment in device memory, once somebody asks for them. In a pipeline, no device needs both
// inputs and targets.
class ResidentData {
 public:
  // `data` must outlive the object.
  ResidentData(const sdk::Device& device, const mk_data& data);
  // Return the bytes of device memory that `data` takes, and that its inputs take.
  static uint64_t bytes(const mk_data& data);
  static uint64_t input_bytes(const mk_data& data) { return data.rows * data.features * sizeof(float); }

  const mk_data& host;
  const int64_t rows, features;
  const bool classifies;

  mk_tensor inputs() const;  // rows x features
  void write_inputs() const;
  // Releases the memory of what is not kept.
  void keep(bool inputs, bool targets) {
    if (!inputs) x_.reset();
    if (!targets) target_.reset();
  }
  mk_tensor targets() const;  // one label (i32) or target (f32) per row

 private:
  const sdk::Device device_;
  mutable std::optional<sdk::Buffer> x_, target_;
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
