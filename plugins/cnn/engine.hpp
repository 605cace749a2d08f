// Runs a network on a device. Holds its parameters, optimizer states, buffers of layers, activations and gradients in
// device memory, and submits the ops on them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "network/network.hpp"
#include "network/parameters.hpp"
#include "network/part.hpp"
#include "sdk/device.hpp"
#include "train/gradient_norm.hpp"
#include "train/muon.hpp"

namespace mokume::cnn {

struct EngineOptions {
  // If true, training allocates gradients for all parameters, which backward() needs. Otherwise, only train_back()
  // works, which takes less memory and time if layers take their steps in the backward pass.
  bool gradients = true;
  uint64_t segment_bytes = UINT64_MAX;  // maximum size of a segment of parameters, in addition to the device's limit
  int64_t leaves = 1;                   // leaves of the binary tree in which gradients are summed; a power of two
  double average = 0;       // if positive, an average of the parameters exists, of which each step keeps this share
  bool best = false;        // whether to allocate memory for keep_best()
  Muon muon = {};           // takes the steps of some weights; AdamW takes the rest
  bool accumulate = false;  // whether steps use the sums of accumulate(); needs `gradients`
  Part part = {};           // part of the network in this engine; anything but the whole needs `gradients`
};

// Only one thread at a time may use an engine. The values of a row depend neither on the batch size nor on the other
// rows, except with batch_norm in training, in the order in which a batch's gradients are summed, and in products by
// oneDNN or CLBlast (see sdk/ops/conv2d.hpp).
class Engine {
 public:
  // `batch` is the maximum number of rows of one pass. `training` adds memory for gradients and optimizer states.
  // `memory` supplies all memory unless it is null. Throws Error(MK_OUT_OF_MEMORY) with required and available memory.
  Engine(const sdk::Device& device, const Network& network, int64_t batch, bool training,
         const ops::OptimizerSettings& optimizer = {}, const EngineOptions& options = {},
         StackMemory* memory = nullptr);

  // Returns the bytes of device memory that an engine takes.
  static uint64_t bytes(const Network& network, int64_t batch, bool training,
                        const ops::OptimizerSettings& optimizer = {}, const EngineOptions& options = {});

  // Returns the bytes of the largest buffer of the backward pass.
  static uint64_t flow_bytes(const Network& network, const Part& part, int64_t batch);

  int64_t batch() const { return batch_; }
  const ParameterVector& parameters() const { return parameters_; }
  const ParameterVector& gradients() const { return gradients_; }
  const std::vector<ParameterVector>& states() const { return states_; }  // states of the optimizer
  // Returns the complete state of unfinished training, by name.
  std::vector<std::pair<std::string, const ParameterVector*>> state() const;
  // Sets the moments of a first layer with per_feature. Each vector has input().elements() floats.
  void set_moments(const std::vector<float>& mean, const std::vector<float>& deviation) const;

  // The following functions refer to the engine's part of the network: its input and output may be values between two
  // layers.

  bool has_input() const { return first_ == 0 && first_ < end_; }  // whether the part begins with the network's input
  bool has_output() const { return end_ == network_.stages.size() && first_ < end_; }
  int64_t input_elements() const { return network_.shape_of(first_).elements(); }  // per row
  int64_t output_elements() const { return network_.shape_of(end_).elements(); }   // per row

  // Copy from host memory to the batch's input, and from outputs to host memory.
  void write_input(const float* x, int64_t rows) const;
  void read(const mk_tensor& outputs, float* to) const;
  void read_output(float* to, int64_t rows) const { read(value(end_, rows), to); }
  // Copy the gradient of the output from host memory, and that of the input to host memory after backward().
  void write_output_gradient(const float* gradient, int64_t rows) const;
  void read_input_gradient(float* gradient, int64_t rows) const;
  // Tell whether the backward pass needs the one and computes the other.
  bool wants_output_gradient() const { return output_slot_ >= 0; }
  bool has_input_gradient() const { return input_slot_ >= 0; }
  // Selects the batch in flight, below Part::in_flight, for later passes.
  void select(int64_t in_flight) { selected_ = size_t(in_flight); }

  // Returns the batch's input. The caller writes to it before forward(), which may overwrite its first `rows` rows.
  mk_tensor input(int64_t rows) const { return value(first_, rows); }
  // Returns the outputs (rows x outputs). `dropout` determines the dropout masks; null means a prediction.
  mk_tensor forward(int64_t rows, const ops::DropoutPlace* dropout) const;
  // Computes the outputs of a network that only predicts, in one launch if the device supports it. On a device without
  // launches, a few rows at a time pass through all layers, so that they stay in the processor's cache.
  mk_tensor predict(int64_t rows);
  // Returns the buffer (rows x outputs) into which the caller writes the gradient of the outputs before backward().
  mk_tensor output_gradient(int64_t rows) const { return flow_[output_slot_].matrix(rows, output_elements()); }
  // Computes the gradients of all parameters and replaces the old gradients. Follows a forward() with the same masks.
  void backward(int64_t rows, const ops::DropoutPlace& dropout) const {
    backward(
        rows, dropout, gradients_, {}, [](const Layer&) {}, 1);
  }
  struct Add {
    const ParameterVector* what;
    const ParameterVector* to;
  };
  using Summed = std::function<void(const Layer&)>;
  // Does the work of backward() for one leaf of a binary tree of sums. For each layer, from the last to the first,
  // stores the gradient in `to`; then adds the layer's part of `what` to `to` for each of `adds` in order; then calls
  // `summed`. `share` is the leaf's share of the batch's rows.
  void backward(int64_t rows, const ops::DropoutPlace& dropout, const ParameterVector& to, std::span<const Add> adds,
                const Summed& summed, double share) const;
  // Returns the vector that sums the second half of 2^(k+1) leaves. EngineOptions::leaves determines how many exist.
  const ParameterVector& half(size_t k) const { return halves_[k]; }
  // With EngineOptions::accumulate, adds the gradients to the sums of earlier batches, or replaces the sums if the
  // batch is the `first` one of a step. Running moments follow each batch at once.
  void accumulate(bool first) const;
  // Takes step t (from 1) of the optimizer. `settings` must equal the engine's, except for the learning rate. With
  // EngineOptions::muon, `muon_lr` is Muon's learning rate. An engine with a part of the states steps their parameters
  // only; the caller writes the others and calls follow().
  void step(const ops::OptimizerSettings& settings, int64_t t, double muon_lr = 0) const;
  // Tells an engine with some of the layers how to add up the values of the engines with the other layers, which steps
  // need if they limit the norm of all gradients. A step then submits its ops at once.
  void share_norm(GradientNorm::SumUp sum_up) { sum_up_ = std::move(sum_up); }
  // With EngineOptions::average, lets the average follow the parameters after step t.
  void follow(int64_t t) const {
    if (options_.average > 0) take_average(t == 1);
  }
  // Replaces backward() if a step() with the same settings follows. Layers that can take their steps in the backward
  // pass do so and store no gradients. Only fused ops differ, in their order of summation (sdk/ops/linear_update.hpp).
  void train_back(int64_t rows, const ops::DropoutPlace& dropout, const ops::OptimizerSettings& settings,
                  int64_t t) const;
  // With EngineOptions::average, selects whether forward() uses the average or the parameters from now on.
  void use_average(bool average) { uses_average_ = average && options_.average > 0; }
  // Copies the parameters, or their average, to best().
  void keep_best() const;
  const ParameterVector& best() const { return best_; }
  // Returns the parameters used for predictions: the average, if there is one.
  const ParameterVector& predicting() const { return options_.average > 0 ? average_ : parameters_; }
  // From now on, appends ops to `queue` or, if it is null, submits them to the device.
  void put_ops(std::vector<mk_op>* queue) { queue_ = queue; }
  // Releases the memory that only steps need; forward() still works.
  void end_training();

 private:
  // Holds the values and buffers of a batch in flight. Values outside of the part have no memory.
  struct Activations {
    std::vector<Slice> values;  // indexed as in network/network.hpp; an in-place stage shares the memory of its input
    std::vector<std::vector<Slice>> buffers;  // indexed by stage
    std::vector<bool> outside;                // whether a value is in the memory of the input or of the output
  };

  void submit(const mk_op& op) const { queue_ != nullptr ? queue_->push_back(op) : device_.submit(op); }
  mk_tensor value(size_t value, int64_t rows) const;  // see network/network.hpp
  int64_t rows_at_once() const;
  void record(int64_t rows);
  const Activations& now() const { return in_flight_[selected_]; }
  void check_memory(uint64_t wanted) const;
  void take_activations(StackMemory& from, bool training);
  void take_training_memory(const ops::OptimizerSettings& optimizer, uint64_t segment, StackMemory& from);
  Pass pass(size_t stage, int64_t rows, const ops::DropoutPlace* dropout) const;
  using Gradients = std::function<void(const Layer&, const Pass&)>;
  void go_back(int64_t rows, const ops::DropoutPlace& dropout, const OwnStep* step, const Gradients& gradients,
               double share) const;
  void place_gradients(const GradientFlow::Step& step, std::vector<Slice>& slots, int64_t rows, Pass& p) const;
  void add_up(const GradientFlow::Step& step, std::vector<Slice>& slots, int64_t rows) const;
  void copy(const ParameterVector& from, const ParameterVector& to) const;
  void take_average(bool first) const;
  void follow_moments() const;
  mk_tensor gradient_norm(const ParameterVector& gradients) const;
  void add(const Layer& layer, const ParameterVector& what, const ParameterVector& to) const;

  sdk::Device device_;
  const Network& network_;
  int64_t batch_;
  EngineOptions options_;
  size_t first_, end_;  // stages of the part
  bool uses_average_ = false;
  std::vector<int> stepped_;  // for each stage, the parameter that takes its step in the backward pass, or -1
  bool keeps_gradients_;      // whether all parameters have gradients
  ParameterVector parameters_, gradients_, accumulated_, average_, best_;
  GradientNorm norm_;
  GradientNorm::SumUp sum_up_;
  MuonStep muon_;
  std::vector<ParameterVector> states_, halves_;
  std::vector<CommonRun> steps_;    // ranges that the optimizer steps
  std::vector<CommonRun> moments_;  // ranges of running means
  Slice ones_;
  std::vector<Activations> in_flight_;
  size_t selected_ = 0;
  std::vector<Slice> flow_;                 // slots of the backward pass, see network/gradient_flow.hpp
  int output_slot_ = -1, input_slot_ = -1;  // slots of the gradients of the part's output and input, or -1
  mutable Slice input_gradient_;            // set by the backward pass
  std::vector<mk_op>* queue_ = nullptr;
  std::vector<mk_op> recorded_;  // ops of the last predict()
  int64_t recorded_rows_ = 0;
  int64_t first_row_ = 0;  // the row of the batch at which the rows that pass through the layers begin
};

}  // namespace mokume::cnn
