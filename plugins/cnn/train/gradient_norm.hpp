// The norm of all gradients, on the device, for optimizers that limit it (ops::OptimizerSettings::clip).
#pragma once

#include <functional>

#include "memory.hpp"
#include "network/parameters.hpp"

namespace mokume::cnn {

class GradientNorm {
 public:
  GradientNorm() = default;
  GradientNorm(const sdk::Device& device, const Segments& layout, StackMemory& memory);

  // Returns the most elements of memory that it takes for so many gradients in so many segments.
  static int64_t elements(int64_t gradients, int64_t segments) { return 2 * (gradients / kPart + 2 * segments) + 1; }

  // Submits the ops that compute the squared norm of gradients with this layout, in an order that depends only on the
  // layout. Returns the 1 x 1 that receives it.
  mk_tensor measure(const ParameterVector& gradients, const std::function<void(const mk_op&)>& submit) const;

 private:
  static constexpr int64_t kPart = 1024;  // gradients whose squares are added first

  int64_t parts_ = 0;
  Slice memory_;  // the sum of squares of each part, as many ones, and the result
};

}  // namespace mokume::cnn
