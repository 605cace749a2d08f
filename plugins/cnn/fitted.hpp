// A trained network in host memory, and its files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data.hpp"
#include "network.hpp"
#include "sdk/device.hpp"

namespace mokume::cnn {

struct Fitted {
  Settings settings;  // the layers and the loss; nothing of the training
  Network network;
  std::vector<std::string> class_names;  // empty for regression
  std::vector<float> parameters;         // in the network's own order
  Moments moments;
  std::vector<double> mean, scale;  // of the training data: one value, one per feature, or none

  bool classifies() const { return !class_names.empty(); }

  // labels (classifiers): rows; scores (may be null): rows x outputs, log-probabilities or predictions. A classifier
  // takes the largest, the first of equal ones. Works in batches of fixed size.
  void predict(const sdk::Device& device, const float* x, int64_t rows, int32_t* labels, float* scores) const;

  // model.safetensors with names, shapes and order of torch.nn.Sequential over the same layers, and manifest.json.
  void save(const std::string& directory) const;
  static Fitted load(const std::string& directory);
};

}  // namespace mokume::cnn
