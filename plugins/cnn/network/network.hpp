// Plans a network independently of devices: its layers with their shapes, and the offsets of their parameters.
#pragma once

#include <memory>
#include <vector>

#include "layers/layer.hpp"
#include "network/gradient_flow.hpp"
#include "settings.hpp"

namespace mokume::cnn {

// Layers that compute are stages. Value 0 is the input of the network, and value k + 1 is the output of stage k.
struct Network {
  Shape input;
  std::vector<std::shared_ptr<const Layer>> layers;  // in the order of the configuration
  std::vector<const Layer*> stages;                  // in the order of `layers`
  std::vector<Parameter> parameters;
  int64_t n_parameters = 0;
  std::vector<int> readers;    // number of stage inputs that read each value, plus 1 for the output of the network
  std::vector<bool> trained;   // whether a value depends on trained parameters, and therefore has a gradient
  size_t output = 0;           // value of the last layer
  GradientFlow gradient_flow;  // order and memory of the backward pass

  int64_t frozen_parameters() const {
    int64_t count = 0;
    for (const Parameter& p : parameters) count += p.frozen ? p.size() : 0;
    return count;
  }
  int64_t outputs() const { return layers.back()->out.elements(); }
  const Shape& shape_of(size_t value) const { return value == 0 ? input : stages[value - 1]->out; }
  // Returns whether the first stage needs the mean and the deviation of every feature.
  bool wants_moments() const { return stages.front()->per_feature; }
};

// Throws Error(MK_INVALID_ARGUMENT), with the layer and the cure, for a window larger than its image, a linear layer on
// an image, a number of outputs other than the number of classes (1 for regression), or a name in `freeze` that stands
// for no layer with parameters. Throws Error(MK_BAD_DATA) if the layers are malformed or read a layer that does not
// exist, because the layers of a saved model may contain anything.
Network make_network(const Settings& settings, const Shape& input, int64_t outputs);

// Returns whether networks may share memory and ops: they may differ in numeric settings and in length of training.
bool same_shape(const Network& a, const Settings& a_settings, const Network& b, const Settings& b_settings);

}  // namespace mokume::cnn
