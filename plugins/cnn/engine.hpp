// A network on a device: parameters, activations and gradients in its memory, and the ops that run them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "memory.hpp"
#include "network.hpp"
#include "parameters.hpp"
#include "sdk/device.hpp"
#include "sdk/ops/dropout.hpp"
#include "sdk/ops/optimizer_step.hpp"

namespace mokume::cnn {

struct EngineOptions {
  // Of training: backward() leaves the gradients of all parameters. Without, only train() works, and needs less memory
  // and time where ops::has_linear_update().
  bool gradients = true;
  uint64_t segment_bytes = UINT64_MAX;  // parameters lie in pieces of at most this, and of the device's largest buffer
  // Of gradients summed as a binary tree: its leaves, a power of two.
  int64_t leaves = 1;
};

// Used by one thread. What is computed for a row depends neither on the batch size nor on the rows beside it, but for
// the order in which a batch's gradients are summed, and where oneDNN or CLBlast multiply (see sdk/ops/conv2d.hpp).
class Engine {
 public:
  // `batch`: the most rows of one pass; `training`: with room for gradients and the optimizer's states; `memory`: from
  // where its memory is taken, or nullptr. Error(MK_OUT_OF_MEMORY) naming what is needed and what there is.
  Engine(const sdk::Device& device, const Network& network, int64_t batch, bool training,
         const ops::OptimizerSettings& optimizer = {}, const EngineOptions& options = {},
         SharedMemory* memory = nullptr);

  // Bytes of device memory such an engine takes.
  static uint64_t bytes(const Network& network, int64_t batch, bool training,
                        const ops::OptimizerSettings& optimizer = {}, const EngineOptions& options = {});

  int64_t batch() const { return batch_; }
  const ParameterVector& parameters() const { return parameters_; }
  const ParameterVector& gradients() const { return gradients_; }
  const std::vector<ParameterVector>& states() const { return states_; }  // of the optimizer
  // Both: what a training in the middle consists of.
  std::vector<const ParameterVector*> parameters_and_states() const;
  // Of the normalise layers with per_feature: input().elements() floats each.
  void set_normalisation(const std::vector<float>& mean, const std::vector<float>& deviation) const;

  // Host memory to the batch's input, and outputs to host memory.
  void write_input(const float* x, int64_t rows) const;
  void read(const mk_tensor& outputs, float* to) const;

  // The batch's input, batch() x input elements: fill it, then run forward() on its first `rows` rows. It is
  // overwritten.
  mk_tensor input(int64_t rows) const;
  // Returns the outputs: rows x outputs. `place`: of the dropout masks; nullptr: no dropout.
  mk_tensor forward(int64_t rows, const ops::DropoutPlace* place) const;
  // Where the gradient of the outputs is put before backward(): rows x outputs.
  mk_tensor output_gradient(int64_t rows) const;
  // Behind forward() with the same place: gradients of all parameters, replacing the old ones.
  void backward(int64_t rows, const ops::DropoutPlace& place) const;
  // The same as a leaf of a binary tree of sums, stage by stage: the gradient of a stage, the last first, goes to `to`;
  // then `adds`, in order: what the first holds of that stage is added to the second; then `summed` is called.
  struct Add {
    const ParameterVector* what;
    const ParameterVector* to;
  };
  void backward(int64_t rows, const ops::DropoutPlace& place, const ParameterVector& to, std::span<const Add> adds,
                const std::function<void(const Stage&)>& summed) const;
  // Where the second half of 2^(k+1) leaves is summed; there are as many as EngineOptions::leaves asked for.
  const ParameterVector& half(size_t k) const { return halves_[k]; }
  // One step of the optimizer, the t-th from 1. `settings`: those of the engine, but for the learning rate.
  void step(const ops::OptimizerSettings& settings, int64_t t) const;
  // In the place of backward(), where a step() of the same settings follows: in one pass over a linear layer's weight
  // where there is an op for it, which takes its step on the way back, and otherwise to the same bits (that op has an
  // order of its own for a sum: sdk/ops/linear_update.hpp). Leaves no gradients.
  void train_back(int64_t rows, const ops::DropoutPlace& place, const ops::OptimizerSettings& settings,
                  int64_t t) const;
  // From now on ops are put at the end of `queue`, and not on the device; nullptr: on the device again.
  void put_ops(std::vector<mk_op>* queue) { queue_ = queue; }
  // Gives back the memory that only steps need; forward() still works.
  void end_training();

 private:
  void submit(const mk_op& op) const { queue_ != nullptr ? queue_->push_back(op) : device_.submit(op); }
  mk_tensor activation(size_t stage, int64_t rows) const;                 // what stage `stage` reads
  mk_tensor weight(const ParameterVector& of, const Stage& stage) const;  // of one that is never cut
  mk_tensor bias(const ParameterVector& of, const Stage& stage) const;
  void forward_linear(const Stage& stage, const mk_tensor& x, const mk_tensor& y) const;
  // The step that is taken on the way back wherever gradients are not kept.
  struct Step {
    const ops::OptimizerSettings& settings;
    int64_t t;
  };
  // What makes the gradients of a stage's parameters from its input and the gradient of its output.
  using Gradients = std::function<void(const Stage&, const mk_tensor& x, const mk_tensor& dy)>;
  void go_back(int64_t rows, const ops::DropoutPlace& place, const Step* step, const Gradients& gradients) const;
  void stage_gradients(const Stage& stage, const mk_tensor& x, const mk_tensor& dy, const ParameterVector& to) const;
  void add(const Stage& stage, const ParameterVector& what, const ParameterVector& to) const;
  void backward_linear(const Stage& stage, const mk_tensor& dy, const mk_tensor& dx) const;
  // Gradient of the input and step of the weight. `after_relu`: of what came before that relu.
  void update_linear(const Stage& stage, const mk_tensor& x, const mk_tensor& dy, const mk_tensor* dx, bool after_relu,
                     const Step& step) const;
  void bias_gradient(const Stage& stage, const mk_tensor& dy, const ParameterVector& to) const;

  sdk::Device device_;
  const Network& network_;
  int64_t batch_;
  bool fused_;  // some linear layers take their steps on the way back, without gradients
  ParameterVector parameters_, gradients_;
  std::vector<ParameterVector> states_;
  std::vector<ParameterVector> halves_;
  std::vector<CommonRun> steps_;  // what parameters and gradients have in common
  Slice ones_;
  std::vector<Slice> activations_;    // what stage k reads at [slot_[k]]; the last are the outputs
  std::vector<size_t> slot_;          // stages + 1: in-place stages share their input's
  std::vector<Slice> places_;         // of max_pool stages
  std::vector<Slice> shift_, scale_;  // of normalise stages
  Slice flow_[2];                     // gradients on their way back
  std::vector<mk_op>* queue_ = nullptr;
};

}  // namespace mokume::cnn
