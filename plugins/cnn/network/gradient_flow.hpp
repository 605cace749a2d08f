// The backward pass of a graph as a list of steps over a few pieces of memory, the slots, each of which holds the
// gradient of one value at a time. A value that several stages read has the sum of their gradients, from the last
// reader to the first, so that a network has one order of summation.
#pragma once

#include <cstddef>
#include <vector>

namespace mokume::cnn {

class Layer;

struct GradientFlow {
  // to = a + b, which may be the same slots.
  struct Sum {
    int a, b, to;
  };
  struct Step {
    size_t stage;
    int dy;                 // the gradient of the stage's output
    int activated;          // the slot after the gradient of its activation: dy, or a copy if other stages read dy
    std::vector<int> dx;    // by input of the stage; -1: not needed. It may be `activated`
    std::vector<Sum> sums;  // after the stage
  };

  std::vector<Step> steps;  // from the last stage to the first; stages that nothing trained precedes have none
  int slots = 0;            // slot 0 receives the gradient of the output
};

// `stages` have their reads and in_place. `trained`, by value, and `output` are those of network/network.hpp.
GradientFlow gradient_flow(const std::vector<const Layer*>& stages, const std::vector<bool>& trained, size_t output);

}  // namespace mokume::cnn
