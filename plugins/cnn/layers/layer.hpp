// The layers of networks. Each file of this folder holds one layer: its keys, its shape rule, its parameters and their
// initial values, its forward and backward passes, and its costs. table.cpp lists them (docs/extend/add-layer.md). The
// parent folder builds networks from them, allocates their memory and trains them.
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
  // Throws Error(MK_BAD_DATA), since a saved model may contain anything.
  Values(const nlohmann::json& values, const mk_form& form);

  int64_t integer(const char* key) const;
  double real(const char* key) const;
  bool flag(const char* key) const;
  std::string text(const char* key) const;  // one of its choices

 private:
  nlohmann::json value(const char* key) const;
  void check_choice(const mk_param& key) const;

  const nlohmann::json& values_;
  const mk_form& form_;
};

struct LayerType {
  mk_form form;
  std::shared_ptr<Layer> (*make)(const Values& values, LayerPlan& plan);
  bool joins = false;  // reads any number of layers; others read one
};

// The interface to a layer under construction: its inputs, and the parameters, to which it adds its own.
class LayerPlan {
 public:
  // `called` is "" for a layer without a name. The layer's parameters are appended to `all`.
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
  const uint32_t index;  // in the list of layers, from 0
  const bool named;
  const std::string name;  // its index, if it has none
  const std::vector<Shape> inputs;
  const Shape in;       // the first one
  bool frozen = false;  // its parameters do not learn
  bool first = false;   // no earlier layer has changed the data
  bool last = false;
  bool classifies = false;

  // Throws Error(MK_INVALID_ARGUMENT) with the name of the layer.
  [[noreturn]] void refuse(const std::string& what, const std::string& cure) const;
  void need_images() const {
    if (in.flat) refuse("it needs images, but its input is rows of features", "put it before flatten");
  }
  // Adds a parameter and returns its index among the network's parameters.
  int parameter(Parameter parameter);
  // Adds a weight from `from` to `outputs` and, if the key `bias` says so, a bias of so many numbers (*bias is -1
  // without one), with the initial values of the keys in layers/initialisation.hpp.
  void weight_and_bias(const Shape& from, int64_t outputs, int64_t biases, Parameter::Kind kind, const Values& values,
                       int* weight, int* bias);

 private:
  std::vector<Parameter>& parameters_;
};

// The operands of one layer in a pass over a batch.
struct Pass {
  const sdk::Device& device;
  std::vector<mk_op>* queue;  // receives the ops; nullptr: they are submitted to the device
  const ParameterVector& weights;
  std::span<const Slice> buffers;                    // those that the layer requested
  const ops::DropoutPlace* dropout;                  // nullptr: a prediction, for which nothing is dropped
  mk_tensor x, y;                                    // input and output: rows x elements
  mk_tensor dy = {}, dx = {};                        // backward: their gradients; dx is empty if it is not needed
  std::vector<mk_tensor> more_x = {}, more_dx = {};  // of a layer that joins others: those after the first
  const Slice* ones = nullptr;                       // backward: a vector with a one for each row of a batch
  double share = 1;                                  // backward: of the batch's rows in this pass
  // Backward: x is the output of a relu. A layer may also apply the gradient of that relu. It then writes dx over x and
  // sets `relu_done`.
  bool x_is_relu = false, relu_done = false;

  // The pixels of all images, or the rows, with one column for each channel.
  static mk_tensor lines(const mk_tensor& t, int64_t channels) {
    return sdk::matrix(t.buffer, t.rows * t.columns / channels, channels, 0, t.offset);
  }

  void submit(const mk_op& op) const { queue != nullptr ? queue->push_back(op) : device.submit(op); }
};

// The step that a layer takes in the backward pass.
struct OwnStep {
  const ops::OptimizerSettings& settings;
  int64_t t;
  const ParameterVector& gradients;  // for parameters without a fused step
  std::span<const ParameterVector> states;
};

// Layers do not change once their network is made, and several engines share them.
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
  const uint32_t index;  // in the list of layers, from 0
  const std::string name;
  const Shape in;  // of the first input
  const bool frozen;

  // ---- set by the constructor of a layer ----

  Shape out;                                           // initially the shape of the input
  bool runs = true;                                    // false: computes nothing
  ops::Activation activation = ops::Activation::none;  // applied last; its own, or that of a layer it absorbed
  bool overwrites = false;                             // can work on its first input's memory, ...
  bool keeps_zeros = false;                            // ... and leaves its zeros there for a relu before it
  bool overwrites_to_predict = false;                  // can work on that memory if no gradient follows
  bool grads_activation = false;                       // backward() and gradients() apply that of the activation too
  bool passes_gradient = false;                        // the gradient of each input is that of the output
  bool backward_alone = false;                         // its parameters' gradients do not compute that of the input
  bool reads_output = false;                           // its backward pass does, so no later layer may overwrite it
  bool per_feature = false;                            // use_moments() gets those of the training rows
  std::vector<Buffer> buffers;
  double products = 0;           // multiply-adds of the forward pass per row
  int64_t workspace = 0;         // elements that a backend may need in addition, for any batch
  std::vector<int64_t> variant;  // key values that affect ops beyond the shapes

  // ---- behaviour of a layer ----

  // Returns whether this layer applies `next`, an activation that follows it directly, in its own op.
  virtual bool absorbs(const Layer&) const { return false; }
  // Writes the contents that its buffers must have before the first pass.
  virtual void fill_buffers(const sdk::Device&, std::span<const Slice>) const {}
  virtual void use_moments(const sdk::Device&, std::span<const Slice>, const std::vector<float>& /*mean*/,
                           const std::vector<float>& /*deviation*/) const {}
  virtual void forward(const Pass&) const {}
  // Computes the gradient of the input.
  virtual void backward(Pass&) const {}
  // Computes the gradients of the parameters and replaces the old ones. A layer may compute that of its input as well.
  virtual void gradients(const Pass&, const ParameterVector& /*to*/) const {}
  // Returns the parameter whose gradient backward_with_step() does not keep, or -1 if this optimizer has no fused step.
  virtual int stepped_parameter(const ops::OptimizerSettings&, int64_t /*batch*/) const { return -1; }
  // Replaces gradients() and backward().
  virtual void backward_with_step(Pass&, const OwnStep&) const {}

  // Adds its operators on `x` to an ONNX graph and returns the name of their output (layers/export.hpp).
  virtual std::string to_onnx(Export&, const std::string& x) const {
    if (runs) throw Error(MK_UNSUPPORTED, std::string("the layer ") + type.form.name + " has no ONNX form");
    return x;
  }
  // The same for a layer that joins others.
  virtual std::string join_onnx(Export& to, const std::vector<std::string>& xs) const {
    return to_onnx(to, xs.front());
  }

  // ---- set by the network ----

  std::vector<int> inputs;                        // indices of the layers that it reads; -1: the network's input
  std::vector<size_t> reads;                      // the values that it reads: network/network.hpp
  bool in_place = false;                          // works on its first input's memory, which no other stage needs
  bool in_place_to_predict = false;               // the same where nothing but predictions is computed
  bool relu_before = false;                       // a relu before it reads that memory in the backward pass
  int64_t first_parameter = 0, n_parameters = 0;  // elements of the flat vector
  int parameters_begin = 0, parameters_end = 0;   // indices of the network's parameters

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
// A layer that reads any number of layers.
template <class Made>
constexpr LayerType joining_type(const char* name, const char* doc) {
  return {{name, doc, nullptr, 0, 0}, make<Made>, true};
}

}  // namespace mokume::cnn
