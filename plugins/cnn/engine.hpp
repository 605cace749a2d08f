// A network on a device: the state of a training (parameters, the optimizer's states, buffers of layers), activations
// and gradients in the device's memory, and the ops that work on them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "memory.hpp"
#include "network.hpp"
#include "parameters.hpp"
#include "sdk/device.hpp"

namespace mokume::cnn {

struct EngineOptions {
  // In training: backward() leaves the gradients of all parameters. Without them only train_back() works; it needs less
  // memory and time where layers take their steps on the way back.
  bool gradients = true;
  uint64_t segment_bytes = UINT64_MAX;  // segments of parameters take at most this, and the device's largest buffer
  int64_t leaves = 1;                   // of the binary tree in which gradients are summed: a power of two
};

// Used by one thread. What is computed for a row depends neither on the batch size nor on the other rows, except for
// the order in which a batch's gradients are summed, and where oneDNN or CLBlast multiply (see sdk/ops/conv2d.hpp).
class Engine {
 public:
  // `batch`: the most rows of one pass; `training`: with room for gradients and the optimizer's states; `memory`: where
  // its memory comes from, or nullptr. Error(MK_OUT_OF_MEMORY) that names what is needed and what there is.
  Engine(const sdk::Device& device, const Network& network, int64_t batch, bool training,
         const ops::OptimizerSettings& optimizer = {}, const EngineOptions& options = {},
         StackMemory* memory = nullptr);

  // Bytes of device memory that such an engine takes.
  static uint64_t bytes(const Network& network, int64_t batch, bool training,
                        const ops::OptimizerSettings& optimizer = {}, const EngineOptions& options = {});

  int64_t batch() const { return batch_; }
  const ParameterVector& parameters() const { return parameters_; }
  const ParameterVector& gradients() const { return gradients_; }
  const std::vector<ParameterVector>& states() const { return states_; }  // of the optimizer
  // All that a training in the middle consists of, by name.
  std::vector<std::pair<std::string, const ParameterVector*>> state() const;
  // For a first layer that wants them: input().elements() floats each.
  void set_moments(const std::vector<float>& mean, const std::vector<float>& deviation) const;

  // From host memory to the batch's input, and from outputs to host memory.
  void write_input(const float* x, int64_t rows) const;
  void read(const mk_tensor& outputs, float* to) const;

  // The batch's input: fill it, then run forward() on its first `rows` rows, which are overwritten.
  mk_tensor input(int64_t rows) const { return activation(0, rows); }
  // Returns the outputs: rows x outputs. `dropout`: of its masks; nullptr: nothing is dropped.
  mk_tensor forward(int64_t rows, const ops::DropoutPlace* dropout) const;
  // Where the gradient of the outputs is put before backward(): rows x outputs.
  mk_tensor output_gradient(int64_t rows) const { return flow_[0].matrix(rows, network_.outputs()); }
  // After forward() with the same masks: gradients of all parameters, replacing the old ones.
  void backward(int64_t rows, const ops::DropoutPlace& dropout) const {
    backward(rows, dropout, gradients_, {}, [](const Layer&) {});
  }
  // The same as a leaf of a binary tree of sums, layer by layer: the gradient of a layer, the last first, goes to `to`;
  // then `adds`, in order: what the first holds of that layer is added to the second; then `summed` is called.
  struct Add {
    const ParameterVector* what;
    const ParameterVector* to;
  };
  using Summed = std::function<void(const Layer&)>;
  void backward(int64_t rows, const ops::DropoutPlace& dropout, const ParameterVector& to, std::span<const Add> adds,
                const Summed& summed) const;
  // Where the second half of 2^(k+1) leaves is summed; there are as many as EngineOptions::leaves asked for.
  const ParameterVector& half(size_t k) const { return halves_[k]; }
  // One step of the optimizer, the t-th from 1. `settings`: those of the engine, but for the learning rate.
  void step(const ops::OptimizerSettings& settings, int64_t t) const;
  // In the place of backward(), where a step() with the same settings follows: layers that can take their steps on the
  // way back do so, to the same bits (a fused op has an order of its own for a sum: sdk/ops/linear_update.hpp). Leaves
  // no gradients.
  void train_back(int64_t rows, const ops::DropoutPlace& dropout, const ops::OptimizerSettings& settings,
                  int64_t t) const;
  // From now on ops are put at the end of `queue` instead of on the device; nullptr: on the device again.
  void put_ops(std::vector<mk_op>* queue) { queue_ = queue; }
  // Gives back the memory that only steps need; forward() still works.
  void end_training();

 private:
  void submit(const mk_op& op) const { queue_ != nullptr ? queue_->push_back(op) : device_.submit(op); }
  mk_tensor activation(size_t stage, int64_t rows) const;  // what stage `stage` reads
  Pass pass(size_t stage, int64_t rows, const ops::DropoutPlace* dropout) const;
  using Gradients = std::function<void(const Layer&, const Pass&)>;
  void go_back(int64_t rows, const ops::DropoutPlace& dropout, const OwnStep* step, const Gradients& gradients) const;
  void add(const Layer& layer, const ParameterVector& what, const ParameterVector& to) const;

  sdk::Device device_;
  const Network& network_;
  int64_t batch_;
  std::vector<int> stepped_;  // by stage: the parameter that takes its step on the way back, or -1
  bool keeps_gradients_;      // of all parameters
  ParameterVector parameters_, gradients_;
  std::vector<ParameterVector> states_, halves_;
  std::vector<CommonRun> steps_;  // elements that parameters and gradients have in common
  Slice ones_;
  std::vector<Slice> activations_;           // stage k reads the one at [slot_[k]]; the last are the outputs
  std::vector<size_t> slot_;                 // stages + 1: in-place stages share their input's
  std::vector<std::vector<Slice>> buffers_;  // by stage
  Slice flow_[2];                            // gradients on their way back
  std::vector<mk_op>* queue_ = nullptr;
};

}  // namespace mokume::cnn
