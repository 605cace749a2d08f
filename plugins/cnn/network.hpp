// A network as a plan: its layers with their shapes and where their parameters lie, before any device is involved.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layers/layer.hpp"
#include "settings.hpp"

namespace mokume::cnn {

struct Network {
  Shape input;
  std::vector<std::shared_ptr<const Layer>> layers;  // as they were given
  std::vector<const Layer*> stages;                  // those that compute; each reads what the one before it wrote
  std::vector<Parameter> parameters;
  int64_t n_parameters = 0;
  size_t first_trained = 0;  // the first stage with parameters: nobody needs the gradient of its input

  int64_t outputs() const { return layers.back()->out.elements(); }
  // Whether the first stage wants the mean and the deviation of every feature.
  bool wants_moments() const { return stages.front()->per_feature; }
};

// Error(MK_INVALID_ARGUMENT) that names the layer and the cure: a window larger than its image, a linear layer on an
// image, outputs that are not as many as the classes (or 1 for regression). Error(MK_BAD_DATA) where the layers are no
// layers: those of a saved model may be anything.
Network make_network(const Settings& settings, const Shape& input, int64_t outputs);

// Whether networks may share memory and ops: everything but their numbers and the length of their training is equal.
bool same_shape(const Network& a, const Settings& a_settings, const Network& b, const Settings& b_settings);

// A table of the layers: type, output shape, number of parameters.
std::string describe(const Network& network);

}  // namespace mokume::cnn
