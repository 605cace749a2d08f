// Takes Muon's steps, which make the momentum of a weight nearly orthogonal. Follows torch.optim.Muon, but computes in
// f32 throughout. See Keller Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024
// (kellerjordan.github.io/posts/muon).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "memory.hpp"
#include "network/parameters.hpp"

namespace mokume::cnn {

struct Muon {
  double lr = 1e-3, weight_decay = 0.1, momentum = 0.95;
  bool nesterov = true;
  int64_t ns_steps = 0;  // number of Newton-Schulz steps; 0 means that Muon is not used
  std::string adjust_lr_fn = "original";

  bool used() const { return ns_steps > 0; }
};

// Returns the indices of the parameters that Muon steps: the weights of convolutions and of linear layers, except the
// last weight, which computes the outputs. AdamW steps all other parameters.
std::vector<int> muon_weights(const std::vector<Parameter>& parameters);

// Returns the factor of the rate for a weight, like PyTorch's adjust_lr_fn: "original" is sqrt(max(1, outputs /
// inputs)), "match_rms_adamw" is 0.2 * sqrt(max(outputs, inputs)), "spectral_unclamped" is sqrt(outputs / inputs). A
// filter counts as one row, so `inputs` is the number of elements of its patch.
double muon_factor(const std::string& adjust_lr_fn, int64_t outputs, int64_t inputs);

// Allocates memory for the largest weight and processes one weight at a time.
class MuonStep {
 public:
  MuonStep() = default;
  // Throws Error(MK_OUT_OF_MEMORY) if a weight is cut into several segments.
  MuonStep(const sdk::Device& device, const std::vector<Parameter>& parameters, const Segments& layout,
           StackMemory& memory);

  // Returns the number of elements in memory.
  static int64_t elements(const std::vector<Parameter>& parameters);

  // Holds the tensors that a step reads and writes. A positive `clip` limits the norm of all gradients, whose square is
  // `norm2`. `lr` is the current rate, and t counts steps from 1.
  struct Step {
    const ParameterVector& weights;
    const ParameterVector& gradients;
    const ParameterVector& momentum;
    double clip;
    mk_tensor norm2;
    double lr;
    int64_t t;
  };
  void take(const Muon& settings, const Step& step, const std::function<void(const mk_op&)>& submit) const;

 private:
  struct Room {
    int64_t elements = 0, product = 0, rows = 0;  // maximum size of a weight, size of a product, and number of rows
  };
  static Room room_for(const std::vector<Parameter>& parameters);

  std::vector<int> all_;
  Slice x_[2], product_, polynomial_;  // x_ holds a weight's momentum before and after a Newton-Schulz step
  Slice norms_;                        // norm of each row, and of the whole weight
  Slice ones_;
};

}  // namespace mokume::cnn
