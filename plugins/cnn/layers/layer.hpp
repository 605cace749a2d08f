// Declares the interface of layers. Each file in this folder defines one layer: its keys, shape rule, parameters and
// initial values, forward and backward passes, and costs. table.cpp lists the layers (docs/extend/add-layer.md). The
// parent folder builds networks from layers, allocates their memory and trains them.
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

// Holds the values of a layer's keys, which are within the ranges of its description.
class Values {
 public:
  // Throws Error(MK_BAD_DATA) for values out of range, because a saved model may contain anything.
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
  bool joins = false;  // whether the layer reads any number of layers, not exactly one
};

// Shows the network to a layer under construction: its inputs, and the parameters, to which the layer adds its own.
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
  bool frozen = false;  // whether training leaves the layer's parameters unchanged
  bool first = false;   // whether the layer reads unchanged data
  bool last = false;
  bool classifies = false;

  // Throws Error(MK_INVALID_ARGUMENT) with the name of the layer.
  [[noreturn]] void refuse(const std::string& what, const std::string& cure) const;
  void need_images() const {
    if (in.flat) refuse("it needs images, but its input is rows of features", "put it before flatten");
  }
  // Adds a parameter and returns its index among the network's parameters.
  int parameter(Parameter parameter);
  // Adds a weight from `from` to `outputs` and, if the key `bias` is true, a bias with `biases` numbers (otherwise
  // *bias is -1). The keys in layers/initialisation.hpp determine the initial values.
  void weight_and_bias(const Shape& from, int64_t outputs, int64_t biases, Parameter::Kind kind, const Values& values,
                       int* weight, int* bias);

 private:
  std::vector<Parameter>& parameters_;
};

// Holds the operands of one layer in a pass over a batch.
struct Pass {
  const sdk::Device& device;
  std::vector<mk_op>* queue;  // receives the ops; if null, the device receives them
  const ParameterVector& weights;
  std::span<const Slice> buffers;                    // the buffers that the layer requested
  const ops::DropoutPlace* dropout;                  // nullptr for a prediction, which drops nothing
  mk_tensor x, y;                                    // input and output: rows x elements
  mk_tensor dy = {}, dx = {};                        // gradients of y and x for a backward pass; dx may be empty
  std::vector<mk_tensor> more_x = {}, more_dx = {};  // inputs after the first one
  const Slice* ones = nullptr;                       // vector with a one for each row of a batch, for a backward pass
  double share = 1;                                  // share of a backward pass in the batch's rows
  // If x is the output of a relu, a backward pass may apply its gradient, and then sets `relu_done`. It may then also
  // write dx over x, and then sets `dx_over_x`.
  bool x_is_relu = false, relu_done = false, dx_over_x = false;

  // Returns a view of all images as pixels, or of all rows, with one column per channel.
  static mk_tensor lines(const mk_tensor& t, int64_t channels) {
    return sdk::matrix(t.buffer, t.rows * t.columns / channels, channels, 0, t.offset);
  }

  void submit(const mk_op& op) const { queue != nullptr ? queue->push_back(op) : device.submit(op); }
};

// Describes a step that a layer takes in the backward pass.
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

  // The constructor of a layer sets the following members.

  Shape out;         // initially the shape of the input
  bool runs = true;  // false if the layer computes nothing
  // This activation comes last. It is the layer's own, or an absorbed one.
  ops::Activation activation = ops::Activation::none;
  bool overwrites = false;             // whether the layer can work in its first input's memory
  bool keeps_zeros = false;            // whether it then leaves zeros there, as a relu before it requires
  bool overwrites_to_predict = false;  // whether the layer can work there if no gradient follows
  bool grads_activation = false;       // whether backward() and gradients() also apply the gradient of the activation
  bool passes_gradient = false;        // whether the gradient of each input equals that of the output
  bool backward_alone = false;         // whether gradients() leaves the gradient of the input to backward()
  bool reads_output = false;           // whether the backward pass reads the output, so that no layer may overwrite it
  bool per_feature = false;            // whether use_moments() receives the moments of the training rows
  std::vector<Buffer> buffers;
  double products = 0;           // multiply-adds of the forward pass per row
  int64_t workspace = 0;         // additional elements that a backend may need, for any batch
  std::vector<int64_t> variant;  // key values, apart from shapes, that affect ops

  // The following functions define the behaviour of a layer.

  // Returns whether this layer's own op can apply `next`, an activation that follows it directly.
  virtual bool absorbs(const Layer&) const { return false; }
  // Writes the contents that the layer's buffers need before the first pass.
  virtual void fill_buffers(const sdk::Device&, std::span<const Slice>) const {}
  virtual void use_moments(const sdk::Device&, std::span<const Slice>, const std::vector<float>& /*mean*/,
                           const std::vector<float>& /*deviation*/) const {}
  // Throws Error(MK_BAD_DATA) unless the layer can read these rows of the network's input.
  virtual void check_rows(const float* /*x*/, int64_t /*rows*/) const {}
  virtual void forward(const Pass&) const {}
  // Computes the gradient of the input.
  virtual void backward(Pass&) const {}
  // Computes the gradients of the parameters and replaces the old gradients. May also compute the gradient of the
  // input.
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
  // Does the same for a layer that joins other layers.
  virtual std::string join_onnx(Export& to, const std::vector<std::string>& xs) const {
    return to_onnx(to, xs.front());
  }

  // The network sets the following members.

  std::vector<int> inputs;                        // indices of the input layers; -1 stands for the network's input
  std::vector<size_t> reads;                      // indices of the input values, see network/network.hpp
  bool in_place = false;                          // whether the layer works in the memory of its first input
  bool in_place_to_predict = false;               // whether the layer does so in a network that only predicts
  bool relu_before = false;                       // whether a preceding relu reads this memory in the backward pass
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
