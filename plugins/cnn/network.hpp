// A network as a plan: its layers with their shapes and the offsets of their parameters, before any device is involved.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layers/layer.hpp"
#include "settings.hpp"

namespace mokume::cnn {

struct Network {
  Shape input;
  std::vector<std::shared_ptr<const Layer>> layers;  // as configured
  std::vector<const Layer*> stages;                  // those that compute; each reads the output of the one before it
  std::vector<Parameter> parameters;
  int64_t n_parameters = 0;
  size_t first_trained = 0;  // the first stage with parameters; the gradient of its input is not needed

  int64_t outputs() const { return layers.back()->out.elements(); }
  // Returns whether the first stage needs the mean and the deviation of every feature.
  bool wants_moments() const { return stages.front()->per_feature; }
};

// Throws Error(MK_INVALID_ARGUMENT) with the layer and the cure: a window larger than its image, a linear layer on an
// image, a number of outputs other than the number of classes (1 for regression). Throws Error(MK_BAD_DATA) if the
// layers are malformed, since those of a saved model may contain anything.
Network make_network(const Settings& settings, const Shape& input, int64_t outputs);

// Returns whether networks may share memory and ops: they may differ only in their numbers and in the length of their
// training.
bool same_shape(const Network& a, const Settings& a_settings, const Network& b, const Settings& b_settings);

// Returns a table of the layers: type, output shape, number of parameters.
std::string describe(const Network& network);

}  // namespace mokume::cnn
