// Represents the backward pass of a graph as a list of steps over a few pieces of memory, the slots. A slot holds the
// gradient of one value at a time. If several stages read a value, the steps add their gradients from the last reader
// to the first, so that a network has one order of summation.
#pragma once

#include <cstddef>
#include <vector>

namespace mokume::cnn {

class Layer;

struct GradientFlow {
  // Sets slot `to` to the sum of slots a and b. The slots may be the same.
  struct Sum {
    int a, b, to;
  };
  struct Step {
    size_t stage;
    int dy;                 // slot of the gradient of the stage's output
    int activated;          // slot for the gradient after the activation: dy, or a copy if other stages read dy
    std::vector<int> dx;    // slot for each input of the stage, or -1 if not needed; may equal `activated`
    std::vector<Sum> sums;  // sums that follow the stage
  };

  std::vector<Step> steps;  // from the last stage to the first; stages without trained predecessors have no step
  int slots = 0;            // number of slots; slot 0 receives the gradient of the output
};

// The stages must have their final `reads` and `in_place`. network/network.hpp describes `trained` and `output`.
GradientFlow gradient_flow(const std::vector<const Layer*>& stages, const std::vector<bool>& trained, size_t output);

}  // namespace mokume::cnn
