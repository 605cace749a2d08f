// The layers of networks. Each file in this folder defines one layer: its keys, its shape rule, its parameters and
// their initial values, its forward and backward passes, and its costs. table.cpp lists the layers
// (docs/extend/add-layer.md). The parent folder builds networks from them, allocates their memory and trains them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "keys.hpp"
#include "layers/parameter.hpp"
#include "network/parameters.hpp"
#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/dropout.hpp"
#include "sdk/ops/optimizer_step.hpp"

namespace mokume::cnn {

class Layer;
class LayerPlan;
struct Export;

// The values of a layer's keys, within the ranges of its description.
class Values {
 public:
  // Throws Error(MK_BAD_DATA), because a saved model may contain anything.
  Values(const nlohmann::json& values, const mk_form& form);

  int64_t integer(const char* key) const;
  double real(const char* key) const;
  bool flag(const char* key) const;
  std::string text(const char* key) const;  // one of the key's choices

 private:
  nlohmann::json value(const char* key) const;
  void check_choice(const mk_param& key) const;

  const nlohmann::json& values_;
  const mk_form& form_;
};

struct LayerType {
  mk_form form;
  std::shared_ptr<Layer> (*make)(const Values& values, LayerPlan& plan);
  bool joins = false;  // reads any number of layers, not exactly one
};

// The view of a network for a layer under construction: its inputs, and the parameters, to which it adds its own.
class LayerPlan {
 public:
  // `called` is "" for a layer without a name. The layer appends its parameters to `all`.
  LayerPlan(const LayerType& layer, uint32_t number, std::string called, std::vector<Shape> reads,
            std::vector<Parameter>& all)
      : type(layer),
        index(number),
        named(!called.empty()),
        name(named ? std::move(called) : std::to_string(number)),
        inputs(std::move(reads)),
        in(inputs.front()),
        parameters_(all) {}

  const LayerType& type;
  const uint32_t index;  // position in the list of layers, from 0
  const bool named;
  const std::string name;  // the index if the layer has no name
  const std::vector<Shape> inputs;
  const Shape in;       // shape of the first input
  bool frozen = false;  // whether training leaves its parameters unchanged
  bool first = false;   // whether it reads unchanged data
  bool last = false;
  bool classifies = false;

  // Throws Error(MK_INVALID_ARGUMENT) with the name of the layer.
  [[noreturn]] void refuse(const std::string& what, const std::string& cure) const;
  void need_images() const {
    if (in.flat) refuse("it needs images, but its input is rows of features", "put it before flatten");
  }
  // Adds a parameter and returns its index among the network's parameters.
  int parameter(Parameter parameter);
  // Adds a weight from `from` to `outputs` and, if the key `bias` asks for it, a bias with `biases` numbers (otherwise
  // *bias is -1). The keys in layers/initialisation.hpp determine the initial values.
  void weight_and_bias(const Shape& from, int64_t outputs, int64_t biases, Parameter::Kind kind, const Values& values,
                       int* weight, int* bias);

 private:
  std::vector<Parameter>& parameters_;
};

// The operands of one layer in a pass over a batch.
struct Pass {
  const sdk::Device& device;
  std::vector<mk_op>* queue;  // receives the ops; nullptr: ops go to the device
  const ParameterVector& weights;
  std::span<const Slice> buffers;                    // the buffers that the layer requested
  const ops::DropoutPlace* dropout;                  // nullptr for a prediction, which drops nothing
  mk_tensor x, y;                                    // input and output: rows x elements
  mk_tensor dy = {}, dx = {};                        // backward: gradients of y and x; dx is empty if not needed
  std::vector<mk_tensor> more_x = {}, more_dx = {};  // inputs after the first one
  const Slice* ones = nullptr;                       // backward: a vector with a one for each row of a batch
  double share = 1;                                  // backward: this pass's share of the batch's rows
  // Backward: x is the output of a relu. A layer that applies its gradient writes dx over x and sets `relu_done`.
  bool x_is_relu = false, relu_done = false;

  // Views all images as pixels, or all rows, with one column per channel.
  static mk_tensor lines(const mk_tensor& t, int64_t channels) {
    return sdk::matrix(t.buffer, t.rows * t.columns / channels, channels, 0, t.offset);
  }

  void submit(const mk_op& op) const { queue != nullptr ? queue->push_back(op) : device.submit(op); }
};

// Parameters of a step that a layer takes in the backward pass.
struct OwnStep {
  const ops::OptimizerSettings& settings;
  int64_t t;
  const ParameterVector& gradients;  // for parameters without a fused step
  std::span<const ParameterVector> states;
};

// Layers do not change after their network is built, and several engines share them.
class Layer {
 public:
  struct Buffer {
    int64_t per_row, fixed;  // elements of 4 bytes
  };

  explicit Layer(const LayerPlan& plan)
      : type(plan.type), index(plan.index), name(plan.name), in(plan.in), frozen(plan.frozen), out(plan.in) {}
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const LayerType& type;
  const uint32_t index;  // position in the list of layers, from 0
  const std::string name;
  const Shape in;  // shape of the first input
  const bool frozen;

  // ---- set by the constructor of a layer ----

  Shape out;         // initially the shape of the input
  bool runs = true;  // false: computes nothing
  // The activation applied last: the layer's own, or an absorbed one.
  ops::Activation activation = ops::Activation::none;
  bool overwrites = false;             // can work in its first input's memory, ...
  bool keeps_zeros = false;            // ... and leaves zeros there, as a relu before it requires
  bool overwrites_to_predict = false;  // can do so if no gradient follows
  bool grads_activation = false;       // backward() and gradients() also apply the gradient of the activation
  bool passes_gradient = false;        // the gradient of each input equals that of the output
  bool backward_alone = false;         // gradients() does not compute the gradient of the input
  bool reads_output = false;           // the backward pass reads the output, so no later layer may overwrite it
  bool per_feature = false;            // use_moments() receives the moments of the training rows
  std::vector<Buffer> buffers;
  double products = 0;           // multiply-adds of the forward pass per row
  int64_t workspace = 0;         // additional elements that a backend may need, for any batch
  std::vector<int64_t> variant;  // key values, apart from shapes, that affect ops

  // ---- behaviour of a layer ----

  // Returns whether this layer's own op can apply `next`, an activation that follows it directly.
  virtual bool absorbs(const Layer&) const { return false; }
  // Writes the contents that the layer's buffers need before the first pass.
  virtual void fill_buffers(const sdk::Device&, std::span<const Slice>) const {}
  virtual void use_moments(const sdk::Device&, std::span<const Slice>, const std::vector<float>& /*mean*/,
                           const std::vector<float>& /*deviation*/) const {}
  virtual void forward(const Pass&) const {}
  // Computes the gradient of the input.
  virtual void backward(Pass&) const {}
  // Computes the gradients of the parameters and replaces the old gradients. May compute the gradient of the input as
  // well.
  virtual void gradients(const Pass&, const ParameterVector& /*to*/) const {}
  // Returns the parameter whose gradient backward_with_step() does not store, or -1 if the optimizer has no fused step.
  virtual int stepped_parameter(const ops::OptimizerSettings&, int64_t /*batch*/) const { return -1; }
  // Replaces gradients() and backward().
  virtual void backward_with_step(Pass&, const OwnStep&) const {}

  // Adds the layer's operators on `x` to an ONNX graph, and returns the name of their output (layers/export.hpp).
  virtual std::string to_onnx(Export&, const std::string& x) const {
    if (runs) throw Error(MK_UNSUPPORTED, std::string("the layer ") + type.form.name + " has no ONNX form");
    return x;
  }
  // Does so for a layer that joins other layers.
  virtual std::string join_onnx(Export& to, const std::vector<std::string>& xs) const {
    return to_onnx(to, xs.front());
  }

  // ---- set by the network ----

  std::vector<int> inputs;                        // indices of the input layers; -1: the network's input
  std::vector<size_t> reads;                      // indices of the input values: network/network.hpp
  bool in_place = false;                          // works in its first input's memory, which no other stage needs
  bool in_place_to_predict = false;               // does so in a network that only predicts
  bool relu_before = false;                       // a preceding relu reads this memory in the backward pass
  int64_t first_parameter = 0, n_parameters = 0;  // range in the flat vector
  int parameters_begin = 0, parameters_end = 0;   // range of indices of the network's parameters

  bool ends_in_relu() const { return activation == ops::Activation::relu; }
};

template <class Made>
std::shared_ptr<Layer> make(const Values& values, LayerPlan& plan) {
  return std::make_shared<Made>(values, plan);
}

template <class Made, size_t N>
constexpr LayerType layer_type(const char* name, const char* doc, const mk_param (&keys)[N]) {
  return {{name, doc, keys, N, 0}, make<Made>, false};
}
template <class Made>
constexpr LayerType layer_type(const char* name, const char* doc) {
  return {{name, doc, nullptr, 0, 0}, make<Made>, false};
}
// Describes a layer that reads any number of layers.
template <class Made>
constexpr LayerType joining_type(const char* name, const char* doc) {
  return {{name, doc, nullptr, 0, 0}, make<Made>, true};
}

}  // namespace mokume::cnn
