// A network on a device: parameters, activations and gradients in its memory, and the ops that run them.
#pragma once

#include <cstdint>
#include <vector>

#include "network.hpp"
#include "sdk/device.hpp"
#include "sdk/ops/dropout.hpp"

namespace mokume::cnn {

// Used by one thread. What is computed for a row depends neither on the batch size nor on the rows beside it, but for
// the order in which a batch's gradients are summed.
class Engine {
 public:
  // `batch`: the most rows of one pass; `training`: with room for gradients and the optimizer's states.
  // Error(MK_OUT_OF_MEMORY) naming what is needed and what there is.
  Engine(const sdk::Device& device, const Network& network, int64_t batch, bool training,
         const ops::OptimizerSettings& optimizer = {});

  // Bytes of device memory such an engine takes.
  static uint64_t bytes(const Network& network, int64_t batch, bool training,
                        const ops::OptimizerSettings& optimizer = {});

  int64_t batch() const { return batch_; }
  // n_parameters floats each, in the network's own order.
  const sdk::Buffer& parameters() const { return parameters_; }
  const sdk::Buffer& gradients() const { return gradients_; }  // of training
  const std::vector<sdk::Buffer>& states() const { return states_; }
  void set_parameters(const std::vector<float>& values) const;
  // Of the normalise layers with per_feature: input().elements() floats each.
  void set_normalisation(const std::vector<float>& mean, const std::vector<float>& deviation) const;

  // Host memory to the batch's input, and outputs to host memory.
  void write_input(const float* x, int64_t rows) const;
  void read(const mk_tensor& outputs, float* to) const;
  std::vector<float> read_parameters() const;

  // The batch's input, batch() x input elements: fill it, then run forward() on its first `rows` rows. It is
  // overwritten.
  mk_tensor input(int64_t rows) const;
  // Returns the outputs: rows x outputs. `place`: of the dropout masks; nullptr: no dropout.
  mk_tensor forward(int64_t rows, const ops::DropoutPlace* place) const;
  // Where the gradient of the outputs is put before backward(): rows x outputs.
  mk_tensor output_gradient(int64_t rows) const;
  // Behind forward() with the same place: gradients of all parameters, replacing the old ones.
  void backward(int64_t rows, const ops::DropoutPlace& place) const;
  // One step of the optimizer, the t-th from 1.
  void step(const ops::OptimizerSettings& settings, int64_t t) const;

 private:
  mk_tensor activation(size_t stage, int64_t rows) const;  // what stage `stage` reads
  mk_tensor weight(const sdk::Buffer& of, const Stage& stage) const;
  mk_tensor bias(const sdk::Buffer& of, const Stage& stage) const;
  void backward_linear(const Stage& stage, const mk_tensor& x, const mk_tensor& dy, const mk_tensor* dx) const;
  void forward_normalise(size_t stage, const mk_tensor& x) const;

  sdk::Device device_;
  const Network& network_;
  int64_t batch_;
  sdk::Buffer parameters_, gradients_, ones_;
  std::vector<sdk::Buffer> states_;
  std::vector<sdk::Buffer> activations_;    // what stage k reads at [slot_[k]]; the last are the outputs
  std::vector<size_t> slot_;                // stages + 1: in-place stages share their input's
  std::vector<sdk::Buffer> places_;         // of max_pool stages
  std::vector<sdk::Buffer> shift_, scale_;  // of normalise stages
  sdk::Buffer flow_[2];                     // gradients on their way back
};

}  // namespace mokume::cnn
