// Computes the norm of all gradients on the device, for optimizers that limit it (ops::OptimizerSettings::clip).
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "memory.hpp"
#include "network/network.hpp"
#include "network/parameters.hpp"
#include "network/part.hpp"

namespace mokume::cnn {

class GradientNorm {
 public:
  GradientNorm() = default;
  // `layout` is that of the gradients of this part of the network. Throws Error(MK_OUT_OF_MEMORY) if it is less than
  // the whole network and has more than one segment.
  GradientNorm(const sdk::Device& device, const Network& network, const Part& part, const Segments& layout,
               StackMemory& memory);

  // Returns a bound on the elements in memory for `gradients` gradients in `segments` segments.
  static int64_t elements(int64_t gradients, int64_t segments) {
    return 2 * (gradients / kPart + 2 * segments) + kPart + 2;
  }

  // Submits the ops that compute the squared norm of the gradients, in an order that depends only on their layout.
  // Returns the 1 x 1 matrix that receives the result.
  mk_tensor measure(const ParameterVector& gradients, const std::function<void(const mk_op&)>& submit) const;

  // Does the same for the gradients of a network whose layers are on several devices, all of which call this function.
  // The result has the bits of one device with the whole network, if the gradients there are one segment. `sum_up` adds
  // up the values of all devices.
  using SumUp = std::function<void(std::span<float> values)>;
  mk_tensor measure(const sdk::Device& device, const ParameterVector& gradients, const SumUp& sum_up) const;

 private:
  static constexpr int64_t kPart = 1024;  // number of gradients in a part, whose squares are added first

  int64_t size_of(int64_t part) const { return std::min(kPart, all_ - part * kPart); }
  bool is_shared(int64_t part) const;
  void measure_own(const sdk::Device& device, const mk_tensor& own, std::span<float> norms) const;
  void measure_shared(const sdk::Device& device, const ParameterVector& gradients, const SumUp& sum_up,
                      std::span<float> norms) const;
  mk_op total() const;

  int64_t parts_ = 0;
  Slice memory_;  // the sum of squares of each part, a vector of ones of the same length, and the result
  // These describe a network whose layers are on several devices.
  int64_t before_ = 0, own_ = 0, all_ = 0;  // gradients of earlier layers, of this part, and of the whole network
  std::vector<int64_t> shared_;             // parts that may be on two or more devices, in ascending order
  Slice row_;                               // gradients of such a part, and their norm
};

}  // namespace mokume::cnn
