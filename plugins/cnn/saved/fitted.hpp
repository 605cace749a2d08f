// Holds a trained network in host memory, predicts with it, and saves, loads and exports it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data.hpp"
#include "network/network.hpp"
#include "network/part.hpp"
#include "sdk/device.hpp"

namespace mokume::cnn {

// These tensors in model.safetensors hold the moments of the features (normalise with per_feature).
inline constexpr const char *kMeanTensor = "normalise.mean", *kDeviationTensor = "normalise.std";

struct Fitted {
  Settings settings;  // the layers, the loss and `mirrors`, without the training settings
  Network network;
  std::vector<std::string> class_names;  // empty for regression
  std::vector<float> parameters;         // in the network's own order
  Moments moments;
  std::vector<double> mean, scale;  // scaling of the training data: empty, one value, or one per feature

  bool classifies() const { return !class_names.empty(); }

  // Writes one label per row to `labels`, which only classifiers use, and rows x outputs log-probabilities or
  // predictions to `scores`, which may be null. A classifier predicts the class with the largest score; the first class
  // wins ties. Works in batches of fixed size. If the network does not fit into the device's memory, runs some layers
  // after others.
  void predict(const sdk::Device& device, const float* x, int64_t rows, int32_t* labels, float* scores) const;

  // Does the same with the parts of the network one after another.
  void predict(const std::vector<Part>& parts, const sdk::Device& device, const float* x, int64_t rows, int32_t* labels,
               float* scores) const;

  // Writes model.safetensors, with names, shapes and order of torch.nn.Sequential, and manifest.json.
  void save(const std::string& directory) const;
  static Fitted load(const std::string& directory);
  // Writes the scaling of the rows and the layers as operators.
  void export_onnx(const std::string& path) const;
};

}  // namespace mokume::cnn
