// Computes the norm of all gradients on the device, for optimizers that limit it (ops::OptimizerSettings::clip).
#pragma once

#include <functional>

#include "memory.hpp"
#include "network/parameters.hpp"

namespace mokume::cnn {

class GradientNorm {
 public:
  GradientNorm() = default;
  GradientNorm(const sdk::Device& device, const Segments& layout, StackMemory& memory);

  // Returns a bound on the elements in memory for `gradients` gradients in `segments` segments.
  static int64_t elements(int64_t gradients, int64_t segments) { return 2 * (gradients / kPart + 2 * segments) + 1; }

  // Submits the ops that compute the squared norm of the gradients, in an order that depends only on their layout.
  // Returns the 1 x 1 matrix that receives the result.
  mk_tensor measure(const ParameterVector& gradients, const std::function<void(const mk_op&)>& submit) const;

 private:
  static constexpr int64_t kPart = 1024;  // number of gradients in a part, whose squares are added first

  int64_t parts_ = 0;
  Slice memory_;  // the sum of squares of each part, a vector of ones of the same length, and the result
};

}  // namespace mokume::cnn
